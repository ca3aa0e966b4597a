// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nearby.h>

#include <memory>
#include <string>
#include <utility>

namespace nb = nanobind;

/// A table that the library made; exported tables share it.
struct TableData {
  ArrowSchema schema = {};
  ArrowArray array = {};

  TableData() = default;
  TableData(const TableData &) = delete;
  TableData &operator=(const TableData &) = delete;
  ~TableData() {
    if (schema.release) schema.release(&schema);
    if (array.release) array.release(&array);
  }
};

using Table = std::shared_ptr<TableData>;

/// Why a call of the library failed, kept for another thread than that of the call.
struct Failure {
  nearby_status status = NEARBY_OK;
  int line = 0, column = 0;
  std::string text, code, message, file, remedy;

  /// That of the calling thread's newest call.
  static Failure newest(nearby_status status);

  /// Raises its Python exception, if there is a failure.
  void raise() const;
};

/// Raises the Python exception of a failure of the calling thread.
void check(nearby_status status);

void bind_table(nb::module_ &module);
