// SPDX-License-Identifier: Apache-2.0
// Runs the engine over a recording and prints the last estimate of each peer.
//
//   c++ -std=c++17 run.cpp $(pkg-config --cflags --libs nearby) -o run && ./run Datasets/plaza2
#include <nearby.h>

#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

void check(nearby_status status) {
  if (status == NEARBY_OK) return;
  nearby_error error;
  nearby_last_error(&error);
  throw std::runtime_error(error.text);
}

struct CloseRecording {
  void operator()(nearby_recording *recording) const { nearby_recording_destroy(recording); }
};
using Recording = std::unique_ptr<nearby_recording, CloseRecording>;

Recording open(const char *folder) {
  nearby_recording *recording = nullptr;
  check(nearby_recording_open(folder, &recording));
  return Recording(recording);
}

/// A table that owns its columns.
struct Table {
  ArrowSchema schema = {};
  ArrowArray array = {};

  Table() = default;
  Table(const Table &) = delete;
  Table &operator=(const Table &) = delete;
  ~Table() {
    if (schema.release) schema.release(&schema);
    if (array.release) array.release(&array);
  }

  int64_t column(std::string_view name) const {
    for (int64_t index = 0; index < schema.n_children; ++index)
      if (name == schema.children[index]->name) return index;
    throw std::runtime_error("there is no column " + std::string(name));
  }

  const double *numbers(std::string_view name) const {
    return static_cast<const double *>(array.children[column(name)]->buffers[1]);
  }

  std::string word(std::string_view name, int64_t row) const {
    const ArrowArray *values = array.children[column(name)];
    const auto index = static_cast<const int32_t *>(values->buffers[1])[row];
    const auto *ends = static_cast<const int32_t *>(values->dictionary->buffers[1]);
    const auto *bytes = static_cast<const char *>(values->dictionary->buffers[2]);
    return std::string(bytes + ends[index], bytes + ends[index + 1]);
  }
};

}  // namespace

int main(int count, char **arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: run RECORDING\n");
    return 64;
  }
  try {
    const Recording recording = open(arguments[1]);
    Table table;
    check(nearby_recording_run(recording.get(), nullptr, &table.schema, &table.array, nullptr));
    std::map<std::string, int64_t> last;
    for (int64_t row = 0; row < table.array.length; ++row) last[table.word("peer", row)] = row;
    for (const auto &[peer, row] : last)
      std::printf("%s: %s, mean %.2f %.2f %.2f m\n", peer.c_str(),
                  table.word("status", row).c_str(), table.numbers("mean_x")[row],
                  table.numbers("mean_y")[row], table.numbers("mean_z")[row]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 65;
  }
  return 0;
}
