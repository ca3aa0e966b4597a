# SPDX-License-Identifier: Apache-2.0
"""Makes the foreign files in this folder with the tools that others use for them.

Made with evo 1.38.1, mcap 1.6.0, lz4 4.4.5, zstandard 0.25.0, rosbags 0.11.9, numpy 2.4.6:

    make fixtures

All hold one motion: 21 poses from 100 s on, 0.1 s apart, on a circle about the z axis that rises;
the device looks along its way (x forward, y left, z up).
"""

import json
import math
import shutil
import sqlite3
import struct
import tempfile
from pathlib import Path

import numpy as np
from evo.core.trajectory import PosePath3D, PoseTrajectory3D
from evo.tools import file_interface
from mcap.writer import CompressionType, Writer
from rosbags.rosbag1 import Writer as Ros1Writer
from rosbags.rosbag2 import StoragePlugin, Writer as BagWriter
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

FOLDER = Path(__file__).parent
COUNT = 21
START = 100_000_000_000
STEP = 100_000_000
# Ends in digits that a double of seconds loses.
EPOCH = 1_403_715_273_262_142_976


def pose(index):
    """Position and quaternion (x, y, z, w) of a pose."""
    angle = 0.1 * index
    half = (angle + math.pi / 2) / 2
    position = (2 * math.cos(angle), 2 * math.sin(angle), 1 + 0.01 * index)
    return position, (0.0, 0.0, math.sin(half), math.cos(half))


def trajectory():
    positions = np.array([pose(i)[0] for i in range(COUNT)])
    quaternions = np.array([(q[3], *q[:3]) for q in (pose(i)[1] for i in range(COUNT))])
    times = np.array([(START + STEP * i) / 1e9 for i in range(COUNT)])
    return PoseTrajectory3D(positions, quaternions, times)


def write_evo():
    path = trajectory()
    file_interface.write_tum_trajectory_file(FOLDER / "walk.tum", path)
    file_interface.write_kitti_poses_file(FOLDER / "walk.kitti", PosePath3D(poses_se3=path.poses_se3))
    (FOLDER / "walk.times").write_text("".join(f"{t:.6e}\n" for t in path.timestamps))
    columns = "p_RS_R_x [m],p_RS_R_y [m],p_RS_R_z [m],q_RS_w [],q_RS_x [],q_RS_y [],q_RS_z []"
    more = "v_RS_R_x [m s^-1],v_RS_R_y [m s^-1],v_RS_R_z [m s^-1],b_w_RS_S_x [rad s^-1]," + (
        "b_w_RS_S_y [rad s^-1],b_w_RS_S_z [rad s^-1],b_a_RS_S_x [m s^-2],b_a_RS_S_y [m s^-2],"
        "b_a_RS_S_z [m s^-2]"
    )
    for name, header, tail in [
        ("walk-17.euroc.csv", f"#timestamp, {columns},{more}", ",0.1,0.2,0.3,0,0,0,0,0,0"),
        ("walk-8.euroc.csv", f"#timestamp [ns], {columns}", ""),
    ]:
        lines = [header]
        for i in range(COUNT):
            (x, y, z), (qx, qy, qz, qw) = pose(i)
            lines.append(f"{EPOCH + STEP * i},{x},{y},{z},{qw},{qx},{qy},{qz}{tail}")
        (FOLDER / name).write_text("\n".join(lines) + "\n")
        read = file_interface.read_euroc_csv_trajectory(FOLDER / name)
        assert np.allclose(read.positions_xyz, path.positions_xyz)


def uci_notification(sequence, measurements, extended=False):
    payload = struct.pack("<IIBIBBB8xB", sequence, 42, 0, 200, 1, 0, int(extended), len(measurements))
    for address, status, nlos, distance, azimuth, fom, elevation, elevation_fom, rssi in measurements:
        payload += address[::-1] + struct.pack(
            "<BBHhBhBhBhBBB", status, nlos, distance, azimuth, fom, elevation, elevation_fom,
            0, 0, 0, 0, 0, rssi,
        ) + bytes(5 if extended else 11)
    return payload


def uci_packets(payload, longest=255):
    packets = []
    while payload or not packets:
        piece, payload = payload[:longest], payload[longest:]
        packets.append(bytes([0x72 if payload else 0x62, 0, 0, len(piece)]) + piece)
    return packets


def block(kind, body, order="<"):
    body += bytes(-len(body) % 4)
    length = len(body) + 12
    return struct.pack(order + "II", kind, length) + body + struct.pack(order + "I", length)


def write_uci():
    """The notifications of a session, and as pcapng with nanoseconds, in both byte orders."""
    short = [bytes.fromhex("AABB"), bytes.fromhex("0102")]
    first = uci_notification(7, [(short[0], 0, 0, 512, -1600, 90, 416, 80, 120)])
    assert uci_packets(first)[0].hex() == (
        "62000038070000002a00000000c800000001000000000000000000000"
        "1bbaa00000002c0f95aa0015000000000000000780000000000000000000000"
    )
    # One without distance and angles, one that failed, one behind an obstacle with a negative range.
    second = uci_notification(8, [
        (short[0], 0, 0xFF, 0xFFFF, 100, 0, 100, 0, 0), (short[1], 0x21, 0, 0xFFFF, 0, 0, 0, 0, 0),
        (short[1], 0x1B, 1, 5, 0, 0, 11520, 100, 181),
    ])
    long = bytes.fromhex("0011223344556677")
    third = uci_notification(9, [(long, 0, 0, 100 + i, 128 * i, 50, 0, 0, 100) for i in range(9)], True)
    groups = [uci_packets(p) for p in (first, second, third)]
    assert [len(g) for g in groups] == [1, 1, 2]
    command = bytes.fromhex("2202000400000000")
    data = bytes([0x00, 0x00, 0x05, 0x00]) + b"hello"
    packets = [command, *groups[0], data, *groups[1], *groups[2]]
    (FOLDER / "uci.bin").write_bytes(b"".join(packets))
    (FOLDER / "uci.hex").write_text(
        "# time in seconds, then a packet\n"
        + "".join(f"{100.25 + 0.2 * i:.2f} {p.hex(' ')}\n" for i, g in enumerate(groups) for p in g))
    for name, order in [("uci.pcapng", "<"), ("uci-big-endian.pcapng", ">")]:
        file = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)
        file += block(1, struct.pack(order + "HHI", 1, 0, 0), order)
        resolution = struct.pack(order + "HHB3xHH", 9, 1, 9, 0, 0)
        file += block(1, struct.pack(order + "HHI", 293, 0, 0) + resolution, order)
        file += block(6, struct.pack(order + "IIIII", 0, 0, 0, 4, 4) + b"none", order)
        file += block(5, bytes(12), order)
        times = [0, 0, 1, 1, 2, 2]
        for packet, tick in zip(packets, times):
            time = EPOCH + 200_000_001 * tick
            head = struct.pack(
                order + "IIIII", 1, time >> 32, time & 0xFFFFFFFF, len(packet), len(packet))
            file += block(6, head + packet, order)
        (FOLDER / name).write_bytes(file)


RANGE = """std_msgs/Header header
uint8 KIND_TWR=1
string<=16 anchor
float32 range_cm
float64[2] angles
bool nlos
uwb_msgs/Quality[] qualities
"""
QUALITY = "uint8 kind\nfloat64 value\n"


def messages(store):
    """Topic, type, time and message of all there is, in the order of time."""
    t = store.types
    time = t["builtin_interfaces/msg/Time"]
    header = lambda ns, frame: t["std_msgs/msg/Header"](time(ns // 10**9, ns % 10**9), frame)
    for i in range(COUNT):
        (x, y, z), q = pose(i)
        ns = START + STEP * i
        body = t["geometry_msgs/msg/Pose"](
            t["geometry_msgs/msg/Point"](x, y, z), t["geometry_msgs/msg/Quaternion"](*q))
        yield "/pose", "geometry_msgs/msg/PoseStamped", ns, t["geometry_msgs/msg/PoseStamped"](
            header(ns, "map"), body)
        zero = t["geometry_msgs/msg/Vector3"](0.0, 0.0, 0.0)
        yield "/odom", "nav_msgs/msg/Odometry", ns, t["nav_msgs/msg/Odometry"](
            header(ns, "odom"), "base_link", t["geometry_msgs/msg/PoseWithCovariance"](
                body, np.zeros(36)),
            t["geometry_msgs/msg/TwistWithCovariance"](
                t["geometry_msgs/msg/Twist"](zero, zero), np.zeros(36)))
        quality = t["uwb_msgs/msg/Quality"]
        yield "/uwb", "uwb_msgs/msg/Range", ns, t["uwb_msgs/msg/Range"](
            header(ns + 5_000_001, "tag"), "A1" if i % 2 else "B22", 150.0 + i,
            np.array([0.125 * i, -0.25]), i % 3 == 0, [quality(1, -80.5), quality(2, 7.0)])


def write_mcap():
    store = get_typestore(Stores.ROS2_HUMBLE)
    store.register(get_types_from_msg(QUALITY, "uwb_msgs/msg/Quality"))
    store.register(get_types_from_msg(RANGE, "uwb_msgs/msg/Range"))
    for name, compression in [
        ("none", CompressionType.NONE), ("lz4", CompressionType.LZ4), ("zstd", CompressionType.ZSTD),
    ]:
        with (FOLDER / f"walk-{name}.mcap").open("wb") as file:
            writer = Writer(file, chunk_size=3000, compression=compression, enable_crcs=True)
            writer.start("ros2", "fixtures")
            channels = {}
            for topic, kind, ns, message in messages(store):
                if topic not in channels:
                    text, _ = store.generate_msgdef(kind, ros_version=2)
                    schema = writer.register_schema(kind, "ros2msg", text.encode())
                    channels[topic] = writer.register_channel(topic, "cdr", schema)
                data = bytes(store.serialize_cdr(message, kind))
                writer.add_message(channels[topic], ns + 7, data, ns + 9)
            writer.finish()
    with (FOLDER / "walk-json.mcap").open("wb") as file:
        writer = Writer(file, compression=CompressionType.NONE, use_chunking=False)
        writer.start("", "fixtures")
        schema = writer.register_schema("foxglove.PoseInFrame", "jsonschema", b'{"type":"object"}')
        poses = writer.register_channel("/pose", "json", schema)
        ranges = writer.register_channel("/uwb", "json", 0)
        for i in range(COUNT):
            (x, y, z), q = pose(i)
            ns = START + STEP * i
            stamp = {"sec": ns // 10**9, "nsec": ns % 10**9}
            body = {
                "position": dict(zip("xyz", (x, y, z))), "orientation": dict(zip("xyzw", q))}
            writer.add_message(poses, ns, json.dumps(
                {"timestamp": stamp, "frame_id": "map", "pose": body}).encode(), ns)
            writer.add_message(ranges, ns + 5, json.dumps(
                {"id": i % 2, "d": [{"mm": 1500 + i}]}).encode(), ns + 5)
        writer.finish()
    write_tiny(store)
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / "bag"
        with BagWriter(bag, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            connections = {}
            for topic, kind, ns, message in messages(store):
                if topic == "/odom":
                    continue
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, kind, typestore=store)
                writer.write(connections[topic], ns + 7, store.serialize_cdr(message, kind))
        shutil.copy(next(bag.glob("*.mcap")), FOLDER / "rosbag2.mcap")


def write_tiny(store):
    """Files so small that every byte of them can be damaged in turn."""
    for name, compression in [("lz4", CompressionType.LZ4), ("zstd", CompressionType.ZSTD)]:
        with (FOLDER / f"tiny-{name}.mcap").open("wb") as file:
            writer = Writer(file, compression=compression, use_statistics=False)
            writer.start("ros2", "fixtures")
            for topic, kind, ns, message in list(messages(store))[2:3]:
                text, _ = store.generate_msgdef(kind, ros_version=2)
                schema = writer.register_schema(kind, "ros2msg", text.encode())
                channel = writer.register_channel(topic, "cdr", schema)
                writer.add_message(channel, ns, bytes(store.serialize_cdr(message, kind)), ns)
            writer.finish()
    with (FOLDER / "tiny-json.mcap").open("wb") as file:
        writer = Writer(file, compression=CompressionType.NONE, use_chunking=False)
        writer.start("", "fixtures")
        channel = writer.register_channel("/uwb", "json", 0)
        writer.add_message(channel, START, b'{"range": [1.5, -2e3], "id": "\\u00e9"}', START)
        writer.finish()


RANGES = """std_msgs/Header header
uint8 KIND_TWR=1
uwb_msgs/Anchor[] ranges
"""
ANCHOR = "string id\nfloat32 distance\nfloat64 variance\n"


def bag_messages(store, is_ros1):
    """The same motion in all types of poses, and ranges to two anchors in one message.

    The frame body is fixed in base_link, one metre above it, and base_link moves.
    """
    t = store.types
    time = t["builtin_interfaces/msg/Time"]

    def header(ns, frame, sequence):
        stamp = time(ns // 10**9, ns % 10**9)
        kind = t["std_msgs/msg/Header"]
        return kind(sequence, stamp, frame) if is_ros1 else kind(stamp, frame)

    point, vector = t["geometry_msgs/msg/Point"], t["geometry_msgs/msg/Vector3"]
    quaternion, stamped = t["geometry_msgs/msg/Quaternion"], t["geometry_msgs/msg/PoseStamped"]
    transform, linked = t["geometry_msgs/msg/Transform"], t["geometry_msgs/msg/TransformStamped"]
    zero, path = vector(0.0, 0.0, 0.0), []
    up = transform(vector(0.0, 0.0, 1.0), quaternion(0.0, 0.0, 0.0, 1.0))
    yield "/tf_static", "tf2_msgs/msg/TFMessage", START, t["tf2_msgs/msg/TFMessage"](
        [linked(header(START, "base_link", 0), "body", up)])
    for i in range(COUNT):
        (x, y, z), q = pose(i)
        ns = START + STEP * i
        body = t["geometry_msgs/msg/Pose"](point(x, y, z), quaternion(*q))
        # A variance of 0.01 m² and 0.0004 rad² for each metre.
        covariance = np.diag([0.01, 0.01, 1e6, 1e6, 1e6, 0.0004]).flatten() * 0.2 * i
        path.append(stamped(header(ns, "map", i), body))
        known = t["geometry_msgs/msg/PoseWithCovariance"](body, covariance)
        yield "/pose", "geometry_msgs/msg/PoseWithCovarianceStamped", ns, t[
            "geometry_msgs/msg/PoseWithCovarianceStamped"](header(ns, "map", i), known)
        yield "/odom", "nav_msgs/msg/Odometry", ns, t["nav_msgs/msg/Odometry"](
            header(ns, "odom", i), "base_link", known, t["geometry_msgs/msg/TwistWithCovariance"](
                t["geometry_msgs/msg/Twist"](zero, zero), np.zeros(36)))
        if i % 10 == 0:
            yield "/path", "nav_msgs/msg/Path", ns, t["nav_msgs/msg/Path"](
                header(ns, "map", i), list(path))
        moved = transform(vector(x, y, z - 1), quaternion(*q))
        yield "/tf", "tf2_msgs/msg/TFMessage", ns, t["tf2_msgs/msg/TFMessage"](
            [linked(header(ns, "/map", i), "/base_link", moved)])
        anchor = t["uwb_msgs/msg/Anchor"]
        # The second anchor is out of reach at first.
        yield "/uwb", "uwb_msgs/msg/Ranges", ns, t["uwb_msgs/msg/Ranges"](
            header(ns + 5_000_001, "tag", i), [
                anchor("A1", 1.5 + i, 0.04), anchor("B2", 2.5 + i if i > 1 else -1.0, 0.09)])


def without_padding(bag):
    """The bag without the blanks that fill its first record up to 4096 bytes."""
    start = len(b"#ROSBAG V2.0\n")
    (header,) = struct.unpack_from("<I", bag, start)
    end = start + 4 + header
    (padding,) = struct.unpack_from("<I", bag, end)
    return bag[:end] + struct.pack("<I", 0) + bag[end + 4 + padding:]


def write_bags():
    """Bags of ROS 1 for each compression, and rosbag2 in SQLite with and without definitions."""
    for name, compression in [("none", None), ("bz2", Ros1Writer.CompressionFormat.BZ2), (
            "lz4", Ros1Writer.CompressionFormat.LZ4)]:
        store = get_typestore(Stores.ROS1_NOETIC)
        store.register(get_types_from_msg(
            "geometry_msgs/TransformStamped[] transforms\n", "tf2_msgs/msg/TFMessage"))
        store.register(get_types_from_msg(ANCHOR, "uwb_msgs/msg/Anchor"))
        store.register(get_types_from_msg(RANGES, "uwb_msgs/msg/Ranges"))
        for prefix, wanted in [("walk", None), ("tiny", "/uwb")]:
            target = FOLDER / f"{prefix}-{name}.bag"
            target.unlink(missing_ok=True)
            writer = Ros1Writer(target)
            if compression:
                writer.set_compression(compression)
            with writer:
                connections = {}
                for topic, kind, ns, message in bag_messages(store, True):
                    if wanted and (topic != wanted or connections):
                        continue
                    if topic not in connections:
                        connections[topic] = writer.add_connection(topic, kind, typestore=store)
                    writer.write(connections[topic], ns + 7, store.serialize_ros1(message, kind))
            if wanted:
                target.write_bytes(without_padding(target.read_bytes()))
    store = get_typestore(Stores.ROS2_HUMBLE)
    store.register(get_types_from_msg(ANCHOR, "uwb_msgs/msg/Anchor"))
    store.register(get_types_from_msg(RANGES, "uwb_msgs/msg/Ranges"))
    with tempfile.TemporaryDirectory() as folder:
        bag = Path(folder) / "bag"
        with BagWriter(bag, version=9, storage_plugin=StoragePlugin.SQLITE3) as writer:
            connections = {}
            for topic, kind, ns, message in bag_messages(store, False):
                if topic not in connections:
                    connections[topic] = writer.add_connection(topic, kind, typestore=store)
                writer.write(connections[topic], ns + 7, store.serialize_cdr(message, kind))
        whole = next(bag.glob("*.db3"))
        shutil.copy(whole, FOLDER / "walk.db3")
        bare = sqlite3.connect(whole)
        bare.execute("DROP TABLE message_definitions")
        bare.commit()
        bare.execute("VACUUM")
        bare.close()
        shutil.copy(whole, FOLDER / "walk-bare.db3")
    (FOLDER / "tiny.db3").unlink(missing_ok=True)
    tiny = sqlite3.connect(FOLDER / "tiny.db3")
    tiny.execute("PRAGMA page_size=512")
    tiny.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, "
                 "serialization_format TEXT)")
    tiny.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, "
                 "timestamp INTEGER, data BLOB)")
    tiny.execute("INSERT INTO topics VALUES(1, '/r', 'sensor_msgs/msg/Range', 'cdr')")
    kind = "sensor_msgs/msg/Range"
    t = store.types
    stamp = t["builtin_interfaces/msg/Time"](100, 5)
    message = t[kind](t["std_msgs/msg/Header"](stamp, "t"), 0, 0.0, 0.0, 100.0, 2.5)
    tiny.execute("INSERT INTO messages VALUES(1, 1, ?, ?)", (
        START, bytes(store.serialize_cdr(message, kind))))
    tiny.commit()
    tiny.close()


if __name__ == "__main__":
    write_bags()
    write_evo()
    write_uci()
    write_mcap()
