// SPDX-License-Identifier: Apache-2.0
// Tables in Python: columns as numpy arrays, and the Arrow PyCapsule interface, without copies.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "core.hpp"

namespace {

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream *, ArrowSchema *);
  int (*get_next)(ArrowArrayStream *, ArrowArray *);
  const char *(*get_last_error)(ArrowArrayStream *);
  void (*release)(ArrowArrayStream *);
  void *private_data;
};

/// What an exported structure keeps alive: the table, and the structures below its own.
template <typename Structure>
struct Shared {
  Table table;
  std::vector<Structure> below;
  std::vector<Structure *> places;
};

/// Makes a structure that shares the buffers of another.
template <typename Structure>
void share(const Structure &source, Structure *target, const Table &table) {
  const auto count = static_cast<size_t>(source.n_children);
  auto shared = std::make_unique<Shared<Structure>>();
  shared->table = table;
  shared->below.resize(count + 1);
  *target = source;
  for (size_t index = 0; index < count; ++index) {
    share(*source.children[index], &shared->below[index], table);
    shared->places.push_back(&shared->below[index]);
  }
  target->children = shared->places.data();
  if (source.dictionary) {
    share(*source.dictionary, &shared->below[count], table);
    target->dictionary = &shared->below[count];
  }
  target->release = [](Structure *structure) {
    auto *own = static_cast<Shared<Structure> *>(structure->private_data);
    for (auto &below : own->below)
      if (below.release) below.release(&below);
    delete own;
    structure->release = nullptr;
  };
  target->private_data = shared.release();
}

/// A capsule that releases its structure unless a reader has moved it out.
template <typename Structure>
nb::object capsule(std::unique_ptr<Structure> structure, const char *name) {
  PyObject *made = PyCapsule_New(structure.get(), name, [](PyObject *object) {
    auto *own = static_cast<Structure *>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (own->release) own->release(own);
    delete own;
  });
  if (!made) throw nb::python_error();
  structure.release();
  return nb::steal(made);
}

nb::object schema_capsule(const Table &table) {
  auto schema = std::make_unique<ArrowSchema>();
  share(table->schema, schema.get(), table);
  return capsule(std::move(schema), "arrow_schema");
}

nb::object array_capsule(const Table &table) {
  auto array = std::make_unique<ArrowArray>();
  share(table->array, array.get(), table);
  return capsule(std::move(array), "arrow_array");
}

/// A stream of one batch.
nb::object stream_capsule(const Table &table) {
  struct State {
    Table table;
    bool is_given = false;
  };
  auto stream = std::make_unique<ArrowArrayStream>();
  stream->get_schema = [](ArrowArrayStream *own, ArrowSchema *schema) {
    const auto *state = static_cast<State *>(own->private_data);
    share(state->table->schema, schema, state->table);
    return 0;
  };
  stream->get_next = [](ArrowArrayStream *own, ArrowArray *array) {
    auto *state = static_cast<State *>(own->private_data);
    if (state->is_given) {
      *array = {};
    } else {
      share(state->table->array, array, state->table);
      state->is_given = true;
    }
    return 0;
  };
  stream->get_last_error = [](ArrowArrayStream *) -> const char * { return nullptr; };
  stream->release = [](ArrowArrayStream *own) {
    delete static_cast<State *>(own->private_data);
    own->release = nullptr;
  };
  stream->private_data = new State{table};
  return capsule(std::move(stream), "arrow_array_stream");
}

int64_t index_of(const TableData &table, std::string_view name) {
  for (int64_t index = 0; index < table.schema.n_children; ++index)
    if (name == table.schema.children[index]->name) return index;
  throw nb::key_error(std::string(name).c_str());
}

template <typename Value>
nb::object array_of(const Table &table, const void *data, int64_t length) {
  nb::capsule owner(new Table(table), [](void *own) noexcept { delete static_cast<Table *>(own); });
  using Array = nb::ndarray<nb::numpy, const Value, nb::ndim<1>>;
  return nb::cast(Array(static_cast<const Value *>(data), {static_cast<size_t>(length)}, owner));
}

nb::object bits(const void *bitmap, int64_t length) {
  nb::list values;
  for (int64_t row = 0; row < length; ++row)
    values.append(bool(static_cast<const uint8_t *>(bitmap)[row >> 3] >> (row & 7) & 1));
  return values;
}

/// A column's values where they lie; indices for words; a list for booleans.
nb::object column(const Table &table, std::string_view name) {
  const auto index = index_of(*table, name);
  const ArrowArray &array = *table->array.children[index];
  const void *data = array.buffers[1];
  switch (*table->schema.children[index]->format) {
    case 'g':
      return array_of<double>(table, data, array.length);
    case 'l':
      return array_of<int64_t>(table, data, array.length);
    case 'i':
      return array_of<int32_t>(table, data, array.length);
    default:
      return bits(data, array.length);
  }
}

/// Which values are there, as a list; `None` when all are.
nb::object validity(const Table &table, std::string_view name) {
  const ArrowArray &array = *table->array.children[index_of(*table, name)];
  if (!array.buffers[0]) return nb::none();
  return bits(array.buffers[0], array.length);
}

/// The words of a column of words; `None` for others.
nb::object words(const Table &table, std::string_view name) {
  const ArrowArray *array = table->array.children[index_of(*table, name)]->dictionary;
  if (!array) return nb::none();
  const auto *ends = static_cast<const int32_t *>(array->buffers[1]);
  const auto *bytes = static_cast<const char *>(array->buffers[2]);
  nb::list words;
  for (int64_t row = 0; row < array->length; ++row)
    words.append(nb::str(bytes + ends[row], static_cast<size_t>(ends[row + 1] - ends[row])));
  return words;
}

/// The unit of each column that has one.
nb::dict units(const Table &table) {
  nb::dict units;
  for (int64_t index = 0; index < table->schema.n_children; ++index) {
    const ArrowSchema &column = *table->schema.children[index];
    if (!column.metadata) continue;
    // One pair, the first of which is `unit`.
    const char *place = column.metadata + sizeof(int32_t);
    auto next = [&place] {
      int32_t length;
      std::memcpy(&length, place, sizeof length);
      nb::str text(place + sizeof length, static_cast<size_t>(length));
      place += sizeof length + static_cast<size_t>(length);
      return text;
    };
    next();
    units[column.name] = next();
  }
  return units;
}

}  // namespace

void bind_table(nb::module_ &module) {
  nb::class_<TableData>(module, "Columns")
      .def_prop_ro("names",
                   [](const Table &table) {
                     nb::list names;
                     for (int64_t index = 0; index < table->schema.n_children; ++index)
                       names.append(nb::str(table->schema.children[index]->name));
                     return names;
                   })
      .def_prop_ro("rows", [](const Table &table) { return table->array.length; })
      .def_prop_ro("units", &units)
      .def("column",
           [](const Table &table, const std::string &name) { return column(table, name); })
      .def("validity",
           [](const Table &table, const std::string &name) { return validity(table, name); })
      .def("words", [](const Table &table, const std::string &name) { return words(table, name); })
      .def("schema", &schema_capsule)
      .def("array", &array_capsule)
      .def("stream", &stream_capsule);
}
