// The addon of Node: `new Graph(...)` over rows of float32, by the stable Node-API.
#include <node_api.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "graph.h"

namespace {

using ragpp::Graph;
using ragpp::Metric;

struct NodeError {};

/** @throws NodeError, with an exception of JavaScript pending. */
void check(napi_env env, napi_status status) {
  if (status == napi_ok) return;
  const napi_extended_error_info *info;
  napi_get_last_error_info(env, &info);
  const std::string message = info->error_message == nullptr ? "a call of Node failed" : info->error_message;
  bool isPending = false;
  napi_is_exception_pending(env, &isPending);
  if (!isPending) napi_throw_error(env, nullptr, message.c_str());
  throw NodeError();
}

/** The arguments of a call. Each read throws for another type. */
struct Call {
  napi_env env;
  napi_value self;
  napi_value values[7];
  size_t count = 7;

  Call(napi_env environment, napi_callback_info info) : env(environment) {
    check(env, napi_get_cb_info(env, info, &count, values, &self, nullptr));
  }

  bool isGiven(size_t i) const {
    napi_valuetype type;
    check(env, napi_typeof(env, values[i], &type));
    return type != napi_undefined;
  }

  uint32_t readInteger(size_t i) const {
    uint32_t value;
    check(env, napi_get_value_uint32(env, values[i], &value));
    return value;
  }

  std::string readText(size_t i) const {
    size_t length;
    check(env, napi_get_value_string_utf8(env, values[i], nullptr, 0, &length));
    std::string text(length, '\0');
    check(env, napi_get_value_string_utf8(env, values[i], &text[0], length + 1, &length));
    return text;
  }

  /** A view of a typed array. */
  template <typename T>
  const T *readArray(size_t i, napi_typedarray_type wanted, size_t *length) const {
    napi_typedarray_type type;
    void *data;
    check(env, napi_get_typedarray_info(env, values[i], &type, length, &data, nullptr, nullptr));
    if (type != wanted) throw std::invalid_argument("argument " + std::to_string(i) + " has numbers of another type");
    return static_cast<const T *>(data);
  }
};

/** A graph with its space. */
struct Holder {
  size_t dimension;
  std::unique_ptr<hnswlib::SpaceInterface<float>> space;
  std::unique_ptr<Graph> graph;
};

Holder *readHolder(const Call &call) {
  void *holder;
  check(call.env, napi_unwrap(call.env, call.self, &holder));
  return static_cast<Holder *>(holder);
}

/** Runs a function whose exceptions become those of JavaScript. */
template <napi_value (*F)(Call &)>
napi_value guard(napi_env env, napi_callback_info info) {
  try {
    Call call(env, info);
    return F(call);
  } catch (const NodeError &) {
  } catch (const std::exception &error) {
    napi_throw_error(env, nullptr, error.what());
  }
  return nullptr;
}

/** Arguments: metric, dimension, instructions, then capacity, m, efConstruction and seed, or the path of a file. */
napi_value construct(Call &call) {
  const bool isProduct = call.readText(0) == "ip";
  const std::string instructions = call.readText(2);
  if (!ragpp::hasInstructions(instructions)) throw std::invalid_argument("no such instructions here: " + instructions);
  auto holder = std::make_unique<Holder>();
  const size_t dimension = holder->dimension = call.readInteger(1);
  if (isProduct) holder->space.reset(new hnswlib::InnerProductSpace(dimension));
  else holder->space.reset(new hnswlib::L2Space(dimension));
  const auto measure = isProduct ? ragpp::chooseMeasure<Metric::InnerProduct>(instructions)
                                 : ragpp::chooseMeasure<Metric::SquaredLength>(instructions);
  if (call.count == 4) holder->graph.reset(new Graph(holder->space.get(), measure, dimension, call.readText(3)));
  else
    holder->graph.reset(new Graph(holder->space.get(), measure, dimension, call.readInteger(3), call.readInteger(4),
                                  call.readInteger(5), call.readInteger(6)));
  const auto finalize = [](napi_env, void *data, void *) { delete static_cast<Holder *>(data); };
  check(call.env, napi_wrap(call.env, call.self, holder.get(), finalize, nullptr, nullptr));
  holder.release();
  return call.self;
}

/** Arguments: rows [n, dimension], labels [n]. */
napi_value add(Call &call) {
  Holder *holder = readHolder(call);
  size_t numbers, count;
  const float *rows = call.readArray<float>(0, napi_float32_array, &numbers);
  const int32_t *labels = call.readArray<int32_t>(1, napi_int32_array, &count);
  if (numbers != count * holder->dimension) throw std::invalid_argument("the rows do not fit the labels");
  for (size_t i = 0; i < count; i++) holder->graph->add(rows + i * holder->dimension, labels[i]);
  return nullptr;
}

napi_value makeArray(napi_env env, napi_typedarray_type type, size_t count, void **data) {
  napi_value buffer, array;
  check(env, napi_create_arraybuffer(env, 4 * count, data, &buffer));
  check(env, napi_create_typedarray(env, type, count, buffer, 0, &array));
  return array;
}

/** Arguments: queries [n, dimension], k, labels that may be found [labels] or undefined. */
napi_value search(Call &call) {
  Holder *holder = readHolder(call);
  size_t numbers, marks = 0;
  const float *queries = call.readArray<float>(0, napi_float32_array, &numbers);
  if (numbers % holder->dimension != 0) throw std::invalid_argument("the queries have another dimension");
  const size_t count = numbers / holder->dimension, k = call.readInteger(1);
  const uint8_t *shown = call.isGiven(2) ? call.readArray<uint8_t>(2, napi_uint8_array, &marks) : nullptr;
  void *labels, *distances;
  napi_value result, labelArray = makeArray(call.env, napi_int32_array, count * k, &labels);
  const napi_value distanceArray = makeArray(call.env, napi_float32_array, count * k, &distances);
  memset(labels, -1, count * k * sizeof(int32_t));
  for (size_t query = 0; query < count; query++) {
    auto found = holder->graph->search(queries + query * holder->dimension, k, shown, marks);
    for (size_t at = query * k + found.size(); !found.empty(); found.pop()) {
      static_cast<int32_t *>(labels)[--at] = static_cast<int32_t>(found.top().second);
      static_cast<float *>(distances)[at] = found.top().first;
    }
  }
  check(call.env, napi_create_object(call.env, &result));
  check(call.env, napi_set_named_property(call.env, result, "labels", labelArray));
  check(call.env, napi_set_named_property(call.env, result, "distances", distanceArray));
  return result;
}

/** Hides a point from searches. Argument: its label. */
napi_value remove(Call &call) {
  readHolder(call)->graph->markDelete(call.readInteger(0));
  return nullptr;
}

napi_value setBreadth(Call &call) {
  readHolder(call)->graph->setEf(call.readInteger(0));
  return nullptr;
}

napi_value countPoints(Call &call) {
  napi_value count;
  check(call.env, napi_create_int64(call.env, readHolder(call)->graph->getCurrentElementCount(), &count));
  return count;
}

/** Writes a graph outside the thread of JavaScript. */
struct Writing {
  Graph *graph;
  std::string path, fault;
  napi_ref self;
  napi_deferred deferred;
  napi_async_work work;
};

void endWriting(napi_env env, napi_status, void *data) {
  std::unique_ptr<Writing> writing(static_cast<Writing *>(data));
  napi_value result;
  napi_get_undefined(env, &result);
  if (!writing->fault.empty()) {
    napi_value message;
    napi_create_string_utf8(env, writing->fault.c_str(), NAPI_AUTO_LENGTH, &message);
    napi_create_error(env, nullptr, message, &result);
    napi_reject_deferred(env, writing->deferred, result);
  } else {
    napi_resolve_deferred(env, writing->deferred, result);
  }
  napi_delete_reference(env, writing->self);
  napi_delete_async_work(env, writing->work);
}

/** Argument: the path. Returns a promise; the graph may be searched, but not changed meanwhile. */
napi_value write(Call &call) {
  auto writing = std::make_unique<Writing>();
  writing->graph = readHolder(call)->graph.get();
  writing->path = call.readText(0);
  napi_value promise, name;
  check(call.env, napi_create_promise(call.env, &writing->deferred, &promise));
  check(call.env, napi_create_reference(call.env, call.self, 1, &writing->self));
  check(call.env, napi_create_string_utf8(call.env, "hnsw", NAPI_AUTO_LENGTH, &name));
  const auto execute = [](napi_env, void *data) {
    auto *job = static_cast<Writing *>(data);
    try {
      job->graph->saveIndex(job->path);
    } catch (const std::exception &error) {
      job->fault = error.what();
    }
  };
  check(call.env, napi_create_async_work(call.env, nullptr, name, execute, endWriting, writing.get(), &writing->work));
  check(call.env, napi_queue_async_work(call.env, writing->work));
  writing.release();
  return promise;
}

/** The sets of instructions that this processor has, the widest first. */
napi_value listInstructions(Call &call) {
  napi_value list;
  check(call.env, napi_create_array(call.env, &list));
  uint32_t count = 0;
  for (const char *name : {"avx512", "avx2", "sse"}) {
    if (!ragpp::hasInstructions(name)) continue;
    napi_value text;
    check(call.env, napi_create_string_utf8(call.env, name, NAPI_AUTO_LENGTH, &text));
    check(call.env, napi_set_element(call.env, list, count++, text));
  }
  return list;
}

napi_property_descriptor describe(const char *name, napi_callback method) {
  return {name, nullptr, method, nullptr, nullptr, nullptr, napi_default_method, nullptr};
}

}  // namespace

NAPI_MODULE_INIT() {
  const napi_property_descriptor methods[] = {
      describe("add", guard<add>),       describe("search", guard<search>),         describe("remove", guard<remove>),
      describe("write", guard<write>),   describe("setBreadth", guard<setBreadth>), describe("count", guard<countPoints>),
  };
  napi_value graph, list;
  const size_t count = sizeof(methods) / sizeof(methods[0]);
  napi_define_class(env, "Graph", NAPI_AUTO_LENGTH, guard<construct>, nullptr, count, methods, &graph);
  napi_set_named_property(env, exports, "Graph", graph);
  napi_create_function(env, "listInstructions", NAPI_AUTO_LENGTH, guard<listInstructions>, nullptr, &list);
  napi_set_named_property(env, exports, "listInstructions", list);
  return exports;
}
