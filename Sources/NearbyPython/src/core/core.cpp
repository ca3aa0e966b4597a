// SPDX-License-Identifier: Apache-2.0
// The C library for Python. What users see is in nearby/*.py; this is the thin layer below.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "calls.hpp"

Failure Failure::newest(nearby_status status) {
  Failure failure;
  if (status == NEARBY_OK) return failure;
  nearby_error error;
  nearby_last_error(&error);
  failure.status = error.status;
  failure.line = error.line;
  failure.column = error.column;
  failure.text = error.text;
  failure.code = error.code;
  failure.message = error.message;
  failure.file = error.file;
  failure.remedy = error.remedy;
  return failure;
}

void Failure::raise() const {
  if (status == NEARBY_OK) return;
  auto errors = nb::module_::import_("nearby._errors");
  errors.attr("fail")(static_cast<int>(status), text, code, message, file, line, column, remedy);
}

void check(nearby_status status) {
  if (status != NEARBY_OK) Failure::newest(status).raise();
}

namespace {

using Text = std::optional<std::string>;

/// The text for the library, which ends at the first NUL.
const char *pointer(const std::string &text) {
  if (text.find('\0') != std::string::npos) throw nb::value_error("a text holds a NUL character");
  return text.c_str();
}

const char *pointer(const Text &text) { return text ? pointer(*text) : nullptr; }

/// A text that the library makes.
struct Taken {
  char *text = nullptr;

  Taken() = default;
  Taken(const Taken &) = delete;
  Taken &operator=(const Taken &) = delete;
  ~Taken() { nearby_text_free(text); }
};

std::string taken(char *text) {
  std::string copy(text);
  nearby_text_free(text);
  return copy;
}

// MARK: - Columns of the caller

/// Columns of numpy arrays, read where they lie.
class Inputs {
 public:
  explicit Inputs(const nb::dict &columns) : columns_(columns) {}

  /// The number of rows, which all columns share.
  int64_t count() const { return count_; }

  nearby_column column(const char *name) {
    nearby_column result = nearby_column_of(nullptr, 0, NEARBY_FLOAT64);
    if (!columns_.contains(name)) return result;
    auto array = nb::cast<nb::ndarray<nb::ro, nb::device::cpu>>(columns_[name]);
    if (array.ndim() != 1)
      throw nb::value_error((std::string(name) + " has more than one dimension").c_str());
    const auto rows = static_cast<int64_t>(array.shape(0));
    if (count_ >= 0 && rows != count_)
      throw nb::value_error(
          (std::string(name) + " has another length than the columns before it").c_str());
    count_ = rows;
    result.data = rows > 0 ? array.data() : nullptr;
    result.stride = array.stride(0) * static_cast<int64_t>(array.itemsize());
    result.type = type(array.dtype(), name);
    arrays_.push_back(std::move(array));
    return result;
  }

 private:
  static nearby_type type(nb::dlpack::dtype type, const char *name) {
    if (type == nb::dtype<double>()) return NEARBY_FLOAT64;
    if (type == nb::dtype<float>()) return NEARBY_FLOAT32;
    if (type == nb::dtype<int64_t>()) return NEARBY_INT64;
    if (type == nb::dtype<int32_t>()) return NEARBY_INT32;
    if (type == nb::dtype<uint32_t>()) return NEARBY_UINT32;
    if (type == nb::dtype<int16_t>()) return NEARBY_INT16;
    if (type == nb::dtype<int8_t>()) return NEARBY_INT8;
    if (type == nb::dtype<uint8_t>()) return NEARBY_UINT8;
    throw nb::type_error((std::string(name) + " has numbers of an unknown type").c_str());
  }

  const nb::dict &columns_;
  std::vector<nb::ndarray<nb::ro, nb::device::cpu>> arrays_;
  int64_t count_ = -1;
};

/// Poses, samples and tracking of a call; keeps their arrays alive.
struct Batch {
  Inputs pose_inputs, sample_inputs, tracking_inputs;
  nearby_poses poses = {};
  nearby_samples samples = {};
  nearby_trackings trackings = {};

  Batch(const nb::dict &pose, const nb::dict &sample, const nb::dict &tracking)
      : pose_inputs(pose), sample_inputs(sample), tracking_inputs(tracking) {
    auto &p = pose_inputs;
    poses.time = p.column("time");
    poses.x = p.column("x");
    poses.y = p.column("y");
    poses.z = p.column("z");
    poses.qx = p.column("qx");
    poses.qy = p.column("qy");
    poses.qz = p.column("qz");
    poses.qw = p.column("qw");
    poses.count = std::max<int64_t>(0, p.count());
    auto &s = sample_inputs;
    samples.time = s.column("time");
    samples.peer = s.column("peer");
    samples.distance = s.column("distance");
    samples.azimuth = s.column("azimuth");
    samples.elevation = s.column("elevation");
    samples.height_difference = s.column("height_difference");
    samples.distance_sigma = s.column("distance_sigma");
    samples.azimuth_sigma = s.column("azimuth_sigma");
    samples.elevation_sigma = s.column("elevation_sigma");
    samples.height_difference_sigma = s.column("height_difference_sigma");
    samples.sight = s.column("sight");
    samples.count = std::max<int64_t>(0, s.count());
    auto &t = tracking_inputs;
    trackings.time = t.column("time");
    trackings.state = t.column("state");
    trackings.lumens = t.column("lumens");
    trackings.count = std::max<int64_t>(0, t.count());
  }
};

nb::dict counts(const nearby_counts &counts) {
  nb::dict result;
  result["poses_accepted"] = counts.poses_accepted;
  result["poses_jumped"] = counts.poses_jumped;
  result["poses_not_finite"] = counts.poses_not_finite;
  result["poses_not_later"] = counts.poses_not_later;
  result["samples_used"] = counts.samples_used;
  result["samples_partial"] = counts.samples_partial;
  result["samples_rejected"] = counts.samples_rejected;
  return result;
}

/// Nanoseconds of a float of seconds, as the library rounds them.
int64_t nanoseconds(double seconds) {
  if (!(std::abs(seconds) < 4.6e9)) return INT64_MAX;
  const double whole = std::floor(seconds);
  return static_cast<int64_t>(whole) * 1000000000 + std::llround((seconds - whole) * 1e9);
}

int64_t nanoseconds(int64_t time) { return time; }

// MARK: - Handles

template <typename Handle, nearby_status (*destroy)(Handle *)>
struct Owner {
  Handle *handle = nullptr;

  Owner() = default;
  Owner(const Owner &) = delete;
  Owner &operator=(const Owner &) = delete;
  ~Owner() { destroy(handle); }

  /// A call that takes no time, except where a call of another thread has the handle.
  template <typename Call>
  void brief(Call call) const {
    nearby_status status;
    if (*calls == 0) {
      // Performance: with the interpreter's lock, which to release and to take costs as much as the
      // call.
      status = call();
    } else {
      nb::gil_scoped_release release;
      status = call();
    }
    check(status);
  }

  /// The calls that are under way without the interpreter's lock.
  CallCount calls = new_count();
};

struct Engine : Owner<nearby_engine, nearby_engine_destroy> {
  Engine(const Engine &other) {
    other.brief([&] { return nearby_engine_copy(other.handle, &handle); });
  }
  Engine(const Text &configuration, int up, int axes) {
    const nearby_frames frames = {static_cast<nearby_up>(up), static_cast<nearby_axes>(axes)};
    check(nearby_engine_create(pointer(configuration), &frames, &handle));
  }

  template <typename Time>
  const char *add_pose(Time time, double x, double y, double z, double qx, double qy, double qz,
                       double qw) {
    static constexpr std::array words = {"accepted", "jumped", "not finite", "not later",
                                         "instead"};
    const nearby_pose pose = {nanoseconds(time), {x, y, z}, {qx, qy, qz, qw}};
    nearby_pose_outcome outcome;
    brief([&] { return nearby_engine_add_pose(handle, &pose, &outcome); });
    return words[outcome];
  }

  template <typename Time>
  const char *add_sample(uint32_t peer, Time time, double distance, double azimuth,
                         double elevation, double height_difference, double distance_sigma,
                         double azimuth_sigma, double elevation_sigma,
                         double height_difference_sigma, std::optional<bool> nlos) {
    static constexpr std::array words = {"all", "partial", "rejected"};
    const nearby_sample sample = {
        nanoseconds(time),
        peer,
        nlos ? (*nlos ? NEARBY_SIGHT_OBSTRUCTED : NEARBY_SIGHT_CLEAR) : NEARBY_SIGHT_UNKNOWN,
        distance,
        azimuth,
        elevation,
        height_difference,
        distance_sigma,
        azimuth_sigma,
        elevation_sigma,
        height_difference_sigma};
    nearby_report report;
    brief([&] { return nearby_engine_add_sample(handle, &sample, &report, nullptr); });
    return words[report.use];
  }
};

struct Smoother : Owner<nearby_smoother, nearby_smoother_destroy> {
  Smoother(const Text &configuration, int up, int axes) {
    const nearby_frames frames = {static_cast<nearby_up>(up), static_cast<nearby_axes>(axes)};
    check(nearby_smoother_create(pointer(configuration), &frames, &handle));
  }
};

struct Locator : Owner<nearby_locator, nearby_locator_destroy> {
  /// Four numbers an anchor: its place and its sigma. `clocks` are three numbers.
  Locator(const Text &configuration, int up, int axes, const std::vector<double> &anchors,
          const std::vector<double> &clocks) {
    const nearby_frames frames = {static_cast<nearby_up>(up), static_cast<nearby_axes>(axes)};
    std::vector<nearby_anchor> places(anchors.size() / 4);
    for (size_t i = 0; i < places.size(); ++i) {
      const double *numbers = anchors.data() + 4 * i;
      places[i] = {{numbers[0], numbers[1], numbers[2]}, numbers[3]};
    }
    const nearby_anchor none = {};
    const nearby_anchor_clocks model = clocks.size() == 3
                                           ? nearby_anchor_clocks{clocks[0], clocks[1], clocks[2]}
                                           : nearby_anchor_clocks{};
    check(nearby_locator_create(pointer(configuration), &frames,
                                places.empty() ? &none : places.data(), int64_t(places.size()),
                                clocks.size() == 3 ? &model : nullptr, &handle));
  }

  template <typename Time>
  const char *add_pose(Time time, double x, double y, double z, double qx, double qy, double qz,
                       double qw) {
    static constexpr std::array words = {"accepted", "jumped", "not finite", "not later",
                                         "instead"};
    const nearby_pose pose = {nanoseconds(time), {x, y, z}, {qx, qy, qz, qw}};
    nearby_pose_outcome outcome;
    brief([&] { return nearby_locator_add_pose(handle, &pose, &outcome); });
    return words[outcome];
  }

  template <typename Time>
  const char *add_difference(Time time, uint32_t from, uint32_t to, double metres, double sigma) {
    static constexpr std::array words = {"accepted", "no difference", "without pose", "too late"};
    const nearby_difference difference = {nanoseconds(time), from, to, metres, sigma};
    nearby_difference_outcome outcome;
    brief([&] { return nearby_locator_add_difference(handle, &difference, &outcome); });
    return words[outcome];
  }

  /// Time, place, covariance, sigma, turn and its sigma; None for what is not known.
  nb::tuple locate() const {
    nearby_fix fix;
    brief([&] { return nearby_locator_locate(handle, &fix); });
    nb::object place = nb::none(), yaw = nb::none();
    if (fix.is_located) place = nb::make_tuple(fix.position[0], fix.position[1], fix.position[2]);
    if (fix.is_turn_known) yaw = nb::float_(fix.yaw);
    const double *c = fix.covariance;
    return nb::make_tuple(fix.nanoseconds, place,
                          nb::make_tuple(c[0], c[1], c[2], c[3], c[4], c[5]), fix.position_sigma,
                          yaw, fix.yaw_sigma);
  }
};

struct Recording : Owner<nearby_recording, nearby_recording_destroy> {
  explicit Recording(const std::string &folder) {
    check(nearby_recording_open(pointer(folder), &handle));
  }
};

// MARK: - Estimates

std::optional<double> known(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

nb::object vector(const double (&values)[3]) {
  if (std::isnan(values[0])) return nb::none();
  return nb::make_tuple(values[0], values[1], values[2]);
}

nb::list reasons(const nearby_estimate &estimate) {
  // In the order in which a person should act on them.
  static constexpr std::pair<nearby_reason, const char *> names[] = {
      {NEARBY_REASON_SIGNAL_STRENGTH, "insufficientSignalStrength"},
      {NEARBY_REASON_LIGHTING, "insufficientLighting"},
      {NEARBY_REASON_TRACKING, "limitedTracking"},
      {NEARBY_REASON_MOVEMENT, "insufficientMovement"},
      {NEARBY_REASON_HORIZONTAL_SWEEP, "insufficientHorizontalSweep"},
      {NEARBY_REASON_VERTICAL_SWEEP, "insufficientVerticalSweep"}};
  nb::list reasons;
  for (const auto &[reason, name] : names)
    if (estimate.reasons & reason) reasons.append(name);
  return reasons;
}

void bind_estimate(nb::module_ &module) {
  using E = nearby_estimate;
  nb::class_<E>(
      module, "Estimate",
      "What is known of one peer at one moment, as seen from the device then.\n\n"
      "Lengths are metres, angles radians. A value that is not known well enough is None.")
      .def_prop_ro(
          "time_ns", [](const E &e) { return e.nanoseconds; }, "Nanoseconds.")
      .def_prop_ro(
          "timestamp", [](const E &e) { return double(e.nanoseconds) * 1e-9; }, "Seconds.")
      .def_prop_ro(
          "peer", [](const E &e) { return e.peer; }, "The peer's number.")
      .def_prop_ro(
          "status",
          [](const E &e) {
            static constexpr std::array words = {"unknown", "notConverged", "converged"};
            return words[e.convergence];
          },
          "unknown, notConverged or converged.")
      .def_prop_ro("converged", [](const E &e) { return e.convergence == NEARBY_CONVERGED; })
      .def_prop_ro("reasons", &reasons, "What stands in the way of convergence, a list of words.")
      .def_prop_ro(
          "distance", [](const E &e) { return known(e.distance); }, "Metres.")
      .def_prop_ro("distance_sigma", [](const E &e) { return known(e.distance_sigma); })
      .def_prop_ro(
          "direction", [](const E &e) { return vector(e.direction); },
          "The unit vector from the device to the peer in device axes, (x, y, z).")
      .def_prop_ro(
          "horizontal_angle", [](const E &e) { return known(e.horizontal_angle); },
          "The bearing relative to the device's heading, radians, positive to the right.")
      .def_prop_ro("horizontal_angle_sigma",
                   [](const E &e) { return known(e.horizontal_angle_sigma); })
      .def_prop_ro(
          "vertical",
          [](const E &e) {
            static constexpr std::array words = {"unknown", "same", "above", "below",
                                                 "aboveOrBelow"};
            return words[e.vertical];
          },
          "unknown, same, above, below or aboveOrBelow.")
      .def_prop_ro("height_difference", [](const E &e) { return known(e.height_difference); })
      .def_prop_ro(
          "world", [](const E &e) { return vector(e.world); },
          "The peer's place in the odometry's world, metres; None until converged.")
      .def_prop_ro(
          "mean", [](const E &e) { return vector(e.mean); },
          "The posterior mean of that place, whatever the convergence.")
      .def_prop_ro(
          "covariance",
          [](const E &e) -> nb::object {
            const double *c = e.covariance;
            if (std::isnan(c[0])) return nb::none();
            return nb::make_tuple(nb::make_tuple(c[0], c[1], c[2]),
                                  nb::make_tuple(c[1], c[3], c[4]),
                                  nb::make_tuple(c[2], c[4], c[5]));
          },
          "The posterior covariance, m²: three rows of three.")
      .def_prop_ro(
          "hypotheses", [](const E &e) { return e.hypothesis_count; },
          "How many hypotheses are alive.");
}

nearby_estimate estimate(const Engine &engine, uint32_t peer) {
  nearby_estimate result;
  engine.brief([&] { return nearby_engine_estimate(engine.handle, peer, &result); });
  return result;
}

template <typename Time>
nearby_estimate estimate_at(const Engine &engine, uint32_t peer, Time time) {
  nearby_estimate result;
  engine.brief(
      [&] { return nearby_engine_estimate_at(engine.handle, peer, nanoseconds(time), &result); });
  return result;
}

// MARK: - Classes

constexpr const char *pose_doc = R"(Extends the device's trajectory.

Args:
    time: Seconds as a float or nanoseconds as an int; after that of the pose before.
    x, y, z: The device in the odometry's world, metres.
    qx, qy, qz, qw: Its attitude, device to world; of any length but zero.

Returns:
    `accepted`, `jumped` (the odometry's world has jumped), `not finite` or `not later` (left out).)";

constexpr const char *sample_doc = R"(Fuses a ranging sample.

Add the pose at or after its time first, if it is there.

Args:
    peer: The peer's number.
    time: Seconds as a float or nanoseconds as an int; up to a second late.
    distance: Metres from the antenna to the peer; NaN for what was not measured.
    azimuth: Radians, positive to the right.
    elevation: Radians, positive up.
    height_difference: Metres that the peer is above the antenna.
    distance_sigma, azimuth_sigma, elevation_sigma, height_difference_sigma: One standard deviation
        of each; NaN for that of the configuration.
    nlos: Whether the radio believes that something stands in the line of sight.

Returns:
    How much of it was used: `all`, `partial` or `rejected`.)";

template <typename Time, typename Class>
void bind_streaming(Class &engine) {
  using nb::arg;
  engine
      .def("add_pose", &Engine::add_pose<Time>, arg("time"), arg("x"), arg("y"), arg("z"),
           arg("qx"), arg("qy"), arg("qz"), arg("qw"), pose_doc)
      .def("add_sample", &Engine::add_sample<Time>, arg("peer"), arg("time"), arg("distance") = NAN,
           arg("azimuth") = NAN, arg("elevation") = NAN, arg("height_difference") = NAN,
           arg("distance_sigma") = NAN, arg("azimuth_sigma") = NAN, arg("elevation_sigma") = NAN,
           arg("height_difference_sigma") = NAN, arg("nlos") = nb::none(), sample_doc)
      .def("_add_tracking",
           [](const Engine &own, Time time, int state, double lumens) {
             own.brief([&] {
               return nearby_engine_add_tracking(own.handle, nanoseconds(time),
                                                 static_cast<nearby_tracking_state>(state), lumens);
             });
           })
      .def("_estimate_at", &estimate_at<Time>);
}

template <typename Time, typename Class>
void bind_locating(Class &locator) {
  using nb::arg;
  locator
      .def("add_pose", &Locator::add_pose<Time>, arg("time"), arg("x"), arg("y"), arg("z"),
           arg("qx"), arg("qy"), arg("qz"), arg("qw"), pose_doc)
      .def("_add_difference", &Locator::add_difference<Time>);
}

void bind_locator(nb::module_ &module) {
  nb::class_<Locator> locator(module, "Locator");
  locator
      .def(nb::init<const Text &, int, int, const std::vector<double> &,
                    const std::vector<double> &>())
      .def("_locate", &Locator::locate);
  // An integer first: a float takes it, too.
  bind_locating<int64_t>(locator);
  bind_locating<double>(locator);
}

void bind_engine(nb::module_ &module) {
  nb::class_<Engine> engine(module, "Engine");
  engine.def(nb::init<const Text &, int, int>())
      .def(nb::init<const Engine &>())
      .def("_add_peer",
           [](const Engine &own, const Text &name, int motion) {
             uint32_t peer = 0;
             own.brief([&] {
               return nearby_engine_add_peer(own.handle, pointer(name),
                                             static_cast<nearby_peer_motion>(motion), &peer);
             });
             return peer;
           })
      .def("_set_motion",
           [](const Engine &own, uint32_t peer, int motion) {
             own.brief([&] {
               return nearby_engine_set_motion(own.handle, peer,
                                               static_cast<nearby_peer_motion>(motion));
             });
           })
      .def("_estimate", &estimate)
      .def("_run", [](const Engine &own, const nb::dict &poses, const nb::dict &samples,
                      const nb::dict &trackings) {
        Batch batch(poses, samples, trackings);
        auto table = std::make_shared<TableData>();
        nearby_counts counted = {};
        const auto run = [&batch, &counted, table, handle = own.handle] {
          return nearby_engine_run(handle, &batch.poses, &batch.samples, &batch.trackings,
                                   &table->schema, &table->array, &counted);
        };
        // Performance: a thread takes longer than a few rows.
        if (batch.poses.count + batch.samples.count < 64) {
          own.brief(run);
        } else {
          unlocked(own.calls, run, [&own] { nearby_engine_interrupt(own.handle); });
        }
        return nb::make_tuple(table, counts(counted));
      });
  bind_streaming<int64_t>(engine);
  bind_streaming<double>(engine);
}

void bind_smoother(nb::module_ &module) {
  nb::class_<Smoother>(module, "Smoother")
      .def(nb::init<const Text &, int, int>())
      .def("add_peer",
           [](const Smoother &own, const Text &name, int motion) {
             uint32_t peer = 0;
             own.brief([&] {
               return nearby_smoother_add_peer(own.handle, pointer(name),
                                               static_cast<nearby_peer_motion>(motion), &peer);
             });
             return peer;
           })
      .def("add",
           [](const Smoother &own, const nb::dict &poses, const nb::dict &samples,
              const nb::dict &trackings) {
             Batch batch(poses, samples, trackings);
             nearby_counts counted = {};
             const auto add = [&batch, &counted, handle = own.handle] {
               return nearby_smoother_add(handle, &batch.poses, &batch.samples, &batch.trackings,
                                          &counted);
             };
             unlocked(own.calls, add, [&own] { nearby_smoother_interrupt(own.handle); });
             return counts(counted);
           })
      .def("solve", [](const Smoother &own) {
        auto table = std::make_shared<TableData>();
        unlocked(own.calls, [table, handle = own.handle] {
          return nearby_smoother_solve(handle, &table->schema, &table->array);
        });
        return table;
      });
}

void bind_recording(nb::module_ &module) {
  nb::class_<Recording>(module, "Recording")
      .def(nb::init<const std::string &>())
      .def_prop_ro("frames",
                   [](const Recording &own) {
                     nearby_frames frames;
                     own.brief([&] { return nearby_recording_frames(own.handle, &frames); });
                     return nb::make_tuple(int(frames.up), int(frames.axes));
                   })
      .def("info",
           [](const Recording &own) {
             auto info = std::make_shared<Taken>();
             unlocked(own.calls, [info, handle = own.handle] {
               return nearby_recording_info(handle, &info->text);
             });
             return std::string(info->text);
           })
      .def("configuration",
           [](const Recording &own, const Text &configuration) {
             char *text = nullptr;
             own.brief([&] {
               return nearby_recording_configuration(own.handle, pointer(configuration), &text);
             });
             return taken(text);
           })
      .def("calibrate",
           [](const Recording &own, const Text &configuration) {
             auto settings = std::make_shared<Taken>();
             auto findings = std::make_shared<Taken>();
             unlocked(own.calls, [settings, findings, configuration, handle = own.handle] {
               return nearby_recording_calibrate(handle, pointer(configuration), &settings->text,
                                                 &findings->text);
             });
             return nb::make_tuple(std::string(settings->text), std::string(findings->text));
           })
      .def("read",
           [](const Recording &own, int kind) {
             auto table = std::make_shared<TableData>();
             unlocked(own.calls, [table, kind, handle = own.handle] {
               return nearby_recording_read(handle, static_cast<nearby_table>(kind), &table->schema,
                                            &table->array);
             });
             return table;
           })
      .def("run",
           [](const Recording &own, const Text &configuration) {
             auto table = std::make_shared<TableData>();
             auto summary = std::make_shared<Taken>();
             unlocked(own.calls, [table, summary, configuration, handle = own.handle] {
               return nearby_recording_run(handle, pointer(configuration), &table->schema,
                                           &table->array, &summary->text);
             });
             return nb::make_tuple(table, std::string(summary->text));
           })
      .def("smooth", [](const Recording &own, const Text &configuration) {
        auto table = std::make_shared<TableData>();
        unlocked(own.calls, [table, configuration, handle = own.handle] {
          return nearby_recording_smooth(handle, pointer(configuration), &table->schema,
                                         &table->array);
        });
        return table;
      });
}

}  // namespace

NB_MODULE(_core, module) {
  module.attr("__version__") = nearby_version();
  bind_table(module);
  bind_estimate(module);
  bind_engine(module);
  bind_locator(module);
  bind_smoother(module);
  bind_recording(module);
  module.def("simulate", [](const std::string &scenario, const Text &settings, uint64_t seed,
                            int peers, int kind) {
    auto table = std::make_shared<TableData>();
    auto made = std::make_shared<Taken>();
    unlocked(new_count(), [=] {
      return nearby_simulate(pointer(scenario), pointer(settings), seed, peers,
                             static_cast<nearby_table>(kind), &table->schema, &table->array,
                             &made->text);
    });
    return nb::make_tuple(table, std::string(made->text));
  });
  module.def("batch_rows", [](const Text &recording, const std::string &summary) {
    char *text = nullptr;
    check(nearby_batch_rows(pointer(recording), pointer(summary), &text));
    return taken(text);
  });
  module.def("evaluate", [](const std::string &result, const Text &recording) {
    auto made = std::make_shared<Taken>();
    unlocked(new_count(),
             [=] { return nearby_evaluate(pointer(result), pointer(recording), &made->text); });
    return std::string(made->text);
  });
  module.def("configuration", [](const Text &configuration) {
    char *text = nullptr;
    check(nearby_configuration(pointer(configuration), &text));
    return taken(text);
  });
}
