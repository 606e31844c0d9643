#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "host/io/json/json_cursor.hpp"
#include "host/io/kai/kai_objects.hpp"

/// Kubernetes objects as Go writes them: empty lists and maps are null, and there are many unused fields.
namespace berth::io::kai {

using KaiField = std::pair<std::string_view, std::function<void()>>;

/// Reads the named fields of an object, at most 32, each at most once, and skips all others. Null is an object without fields.
void fields(JsonCursor& in, std::initializer_list<KaiField> known);
/// Calls on_field(key) for each field, which must consume the value. Null is an object without fields.
void each_field(JsonCursor& in, const std::function<void(std::string_view)>& on_field);
void elements(JsonCursor& in, const std::function<void()>& on_element);

// Null is empty, false, 0.
std::string text(JsonCursor& in);
bool flag(JsonCursor& in);
std::int64_t count(JsonCursor& in);
KaiTexts texts(JsonCursor& in);
/// Reads "2025-06-01T12:00:00Z" as time since 1970.
TimeUs instant(JsonCursor& in);

/// Reads a duration as Go writes it: "1h30m0s", "20s", "0". Null: -1.
TimeUs duration(JsonCursor& in);

KaiMeta meta(JsonCursor& in);

/// The relevant part of a list of resources.
struct Resources {
  std::int64_t gpus = 0;
  bool mig = false;  ///< slices
};
Resources resources(JsonCursor& in);

// kai_objects.cpp
void read_node(JsonCursor& in, KaiNode& node);
/// The node labels of a topology's `spec`, outermost first.
std::vector<std::string> read_levels(JsonCursor& in);

// kai_pods.cpp
void read_pod_group(JsonCursor& in, KaiPodGroup& group);
void read_pod(JsonCursor& in, KaiPod& pod);
void read_bind_request(JsonCursor& in, KaiBindRequest& request);

}  // namespace berth::io::kai
