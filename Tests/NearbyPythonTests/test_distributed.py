# SPDX-License-Identifier: Apache-2.0
"""`nearby.distributed`: the same table as `nearby batch`, whatever happens on the way."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import chaos
import fsspec
import nearby
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from nearby import distributed
from nearby.distributed import _run, _tasks
from nearby.distributed._store import Item, Store, patiently

RECORDINGS = 60


@pytest.fixture(scope="module")
def dataset(cli: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty recordings in two folders, one of them broken."""
    folder = tmp_path_factory.mktemp("data") / "walks"
    for name, count in (("find", 40), ("indoor", 20)):
        subprocess.run([cli, "simulate", name, "--count", str(count), "-q", "-o", folder / name], check=True)
    with (folder / "indoor" / "indoor-0007" / "ranging.csv").open("a") as file:
        file.write("1.0,peer,abc\n")
    return folder


@pytest.fixture(scope="module")
def expected(cli: Path, dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `nearby batch` writes."""
    folder = tmp_path_factory.mktemp("batch")
    subprocess.run(
        [cli, "batch", dataset, "-o", folder / "out", "-q"], stderr=subprocess.DEVNULL, check=False
    )
    return folder / "out"


def options(**changes: object) -> distributed.Options:
    return distributed.Options(workers=2, task_bytes=2_000_000, **changes)  # type: ignore[arg-type]


def test_the_tables_are_those_of_nearby_batch(dataset: Path, expected: Path, tmp_path: Path) -> None:
    report = distributed.run(str(dataset), str(tmp_path), options())
    for name in ("batch.csv", "failures.csv"):
        assert (tmp_path / name).read_bytes() == (expected / name).read_bytes(), name
    assert report.lost == [] and report.progress.recordings_failed == 1
    assert chaos.check(fsspec.filesystem("file"), str(tmp_path), expected / "batch.csv") == RECORDINGS
    table = pq.read_table(tmp_path / "batch.parquet")
    assert len(table) == RECORDINGS - 1
    assert table.schema.field("rmse_second_half").metadata == {b"unit": b"m"}
    assert table["samples"].type == "int64" and set(table["status"].to_pylist()) <= {
        "converged",
        "notConverged",
    }
    runs = pyarrow.dataset.dataset(tmp_path / "runs").to_table()
    (failure,) = runs.filter(runs["error"].is_valid()).to_pylist()
    assert failure["recording"] == "walks/indoor/indoor-0007" and failure["error_line"] > 100
    estimates = pyarrow.dataset.dataset(tmp_path / "estimates")
    assert estimates.schema.field("mean_x").metadata == {b"unit": b"m"}
    assert {"recording", "group", "peer", "distance"} <= set(estimates.schema.names)
    assert not list(tmp_path.rglob("*.unfinished"))


def test_a_second_run_repeats_nothing_and_mends_what_is_gone(
    dataset: Path, expected: Path, tmp_path: Path
) -> None:
    first = distributed.run(str(dataset), str(tmp_path), options())
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("part-*")}
    second = distributed.run(str(dataset), str(tmp_path), options())
    assert second.progress.tasks_kept == first.progress.tasks == len(list((tmp_path / "runs").iterdir()))
    assert times == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("part-*")}
    lost = min((tmp_path / "runs").iterdir())
    lost.unlink()
    third = distributed.run(str(dataset), str(tmp_path), options())
    assert third.progress.tasks - third.progress.tasks_kept == 1 and lost.exists()
    assert (tmp_path / "batch.csv").read_bytes() == (expected / "batch.csv").read_bytes()


def test_other_settings_replace_the_parts(dataset: Path, tmp_path: Path) -> None:
    distributed.run(str(dataset), str(tmp_path), options())
    before = {path.name for path in (tmp_path / "runs").iterdir()}
    distributed.run(str(dataset), str(tmp_path), options(config={"ranging": {"rangeSigma": 0.3}}))
    after = {path.name for path in (tmp_path / "runs").iterdir()}
    assert before.isdisjoint(after)
    assert {path.name for path in (tmp_path / "estimates").iterdir()} == after


@pytest.mark.parametrize("engine", ["local", "dask", "ray"])
def test_killed_workers_lose_and_repeat_nothing(
    engine: str, dataset: Path, expected: Path, tmp_path: Path
) -> None:
    arguments = [str(dataset), "-o", str(tmp_path), "--engine", engine, "--workers", "2", "-q"]
    outcome = chaos.run_while_killing(
        [*arguments, "--task-bytes", "300000"], 3, (tmp_path / "runs").exists, gap=(0.05, 0.2)
    )
    assert outcome.kills > 0, "no worker was killed"
    assert outcome.status == 65, outcome.errors
    assert chaos.check(fsspec.filesystem("file"), str(tmp_path), expected / "batch.csv") == RECORDINGS


def test_a_failing_object_store_is_waited_for(dataset: Path, expected: Path) -> None:
    with chaos.failing_s3(0) as (storage, server):
        source = chaos.upload(dataset, storage, dataset.name)
        server.share = 0.1
        report = distributed.run(
            source,
            f"s3://{chaos.BUCKET}/out",
            options(source_options=storage, output_options=storage),
        )
        server.share = 0
        assert server.failures > 10 and report.lost == []
        store = fsspec.filesystem("s3", **storage)
        store.invalidate_cache()
        assert chaos.check(store, f"{chaos.BUCKET}/out", expected / "batch.csv") == RECORDINGS
        failures = store.cat_file(f"{chaos.BUCKET}/out/failures.csv").decode()
        assert f"{source}/indoor/indoor-0007/ranging.csv" in failures


def test_what_fails_for_a_while_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nearby.distributed._store.time.sleep", lambda seconds: None)
    tried: list[int] = []

    def call() -> str:
        tried.append(1)
        if len(tried) < 4:
            raise OSError("slow down")
        return "done"

    assert patiently(call) == "done" and len(tried) == 4

    def missing() -> str:
        tried.append(1)
        raise FileNotFoundError

    with pytest.raises(FileNotFoundError):
        patiently(missing)
    assert len(tried) == 5, "what is missing is not asked for again"


def item(name: str, size: int = 100_000) -> Item:
    return Item(id=name, path=name, files=(), bytes=size, fingerprint=name)


def test_an_added_recording_leaves_most_tasks_as_they_are() -> None:
    items = [item(f"walk-{index:05}") for index in range(5000)]
    tasks = set(_tasks.divided(items, 4_000_000))
    assert sum(len(task) for task in tasks) == 5000
    assert all(len(task) <= 100 for task in tasks)
    changed = set(_tasks.divided([*items[:2000], item("walk-02000-b"), *items[2000:]], 4_000_000))
    assert len(changed - tasks) < 10
    large = list(_tasks.divided([item("a", 10**9), item("b", 10**9)], 4_000_000))
    assert [len(task) for task in large] == [1, 1]


def test_a_second_dataset_does_not_replace_the_first(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    distributed.run(str(dataset), str(out), options())
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    other = tmp_path / "other"
    shutil.copytree(dataset, other)
    with pytest.raises(nearby.ArgumentError, match=r"holds the results of .*choose another output"):
        distributed.run(str(other), str(out), options())
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    assert distributed.run(str(dataset) + "/", str(out), options()).progress.tasks_kept > 0


def test_digests_change_with_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    one = _tasks.digest([item("a")], None)
    monkeypatch.setattr(_tasks, "build", lambda: "another")
    assert _tasks.digest([item("a")], None) != one


def test_digests_change_with_input_and_settings() -> None:
    one = _tasks.digest([item("a")], None)
    assert one != _tasks.digest([item("b")], None)
    assert one != _tasks.digest([item("a")], '{"ranging": {}}')
    assert one != _tasks.digest([item("a")], None, "off")
    assert _tasks.digest([item("a")], '{"a": 1}') == _tasks.digest([item("a")], '{ "a": 1 }')


def test_recordings_are_found_as_nearby_batch_finds_them(dataset: Path, cli: Path, tmp_path: Path) -> None:
    listed = subprocess.check_output([cli, "batch", dataset, "--list"], text=True).split()
    assert [item.id for item in Store(str(dataset)).items()] == listed
    with pytest.raises(FileNotFoundError, match="no recording lies in this folder"):
        Store(str(tmp_path)).items()


def test_the_command_tells_mistakes(dataset: Path, tmp_path: Path) -> None:
    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-m", "nearby.distributed", *arguments]
        return subprocess.run(program, capture_output=True, text=True, check=False)

    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"ranging": {"rangeSigma": -1}}))
    wrong = command(str(dataset), "-o", str(tmp_path / "out"), "--config", str(settings))
    assert wrong.returncode == 65 and "rangeSigma" in wrong.stderr
    missing = command("/no/such/folder", "-o", str(tmp_path / "out"))
    assert missing.returncode == 65 and "there is no such folder" in missing.stderr


def test_columns_of_the_table_have_types() -> None:
    from nearby import _core

    schema = _run._schema(_core.batch_rows(None, ""))
    assert {str(field.type) for field in schema} == {"string", "int64", "double"}
    assert set(_run._UNITS) <= set(schema.names)
