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

/// Raises the Python exception of a failure.
void check(nearby_status status);

void bind_table(nb::module_ &module);
