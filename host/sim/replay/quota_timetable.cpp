#include "host/sim/replay/quota_timetable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "host/core/check/check_snapshot.hpp"

namespace berth::sim {
namespace {

// A queue refers to GPU types only; its parent is checked with the tree.
class GpuTypesOf final : public core::References {
 public:
  explicit GpuTypesOf(const Snapshot& cluster) : types_(cluster.gpu_types) {}
  const GpuType* gpu_type(std::string_view id) const override {
    const auto found = std::find_if(types_.begin(), types_.end(), [&](const GpuType& type) { return type.id == id; });
    return found == types_.end() ? nullptr : &*found;
  }
  bool has_domain(TopologyKind /*topology*/, std::string_view /*path*/) const override { return false; }
  bool has_level(TopologyKind /*topology*/, std::string_view /*level*/) const override { return false; }
  bool has_queue(std::string_view /*id*/) const override { return false; }
  const Node* node(std::string_view /*id*/) const override { return nullptr; }

 private:
  const std::vector<GpuType>& types_;
};

Queue* find_queue(std::vector<Queue>& queues, std::string_view id) {
  const auto found = std::find_if(queues.begin(), queues.end(), [&](const Queue& queue) { return queue.id == id; });
  return found == queues.end() ? nullptr : &*found;
}

// A name for a message; InputLocation escapes what cannot be shown.
std::string short_name(std::string_view name) {
  constexpr std::size_t kMostShown = 80;
  if (name.size() <= kMostShown) return std::string(name);
  std::size_t end = kMostShown - 3;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // not within a character
  return std::string(name.substr(0, end)) + "...";
}

// The queues were a tree before this one got its parent.
void check_parent(std::vector<Queue>& queues, const Queue& changed, const core::InputLocation& where) {
  for (std::string_view up = changed.parent; !up.empty();) {
    const Queue* const parent = find_queue(queues, up);
    if (parent == nullptr) where.fail_at("parent", fmt::format("there is no queue '{}'", short_name(up)));
    if (parent->id == changed.id) where.fail_at("parent", fmt::format("queue '{}' would be its own ancestor", short_name(changed.id)));
    up = parent->parent;
  }
}

}  // namespace

QuotaTimetable::QuotaTimetable(const Snapshot& cluster, const core::QueueChanges& listed) : changes_(listed.changes) {
  if (changes_.empty()) return;
  std::vector<Queue> queues = cluster.queues;
  const core::InputLocation document(listed.document);
  for (const core::QueueChange& change : changes_) {
    const core::InputLocation event(document, "events", change.event);
    const core::InputLocation where(event, "queue");
    core::check_queue(change.queue, GpuTypesOf(cluster), where);
    Queue* const queue = find_queue(queues, change.queue.id);
    if (queue == nullptr) where.fail_at("id", fmt::format("the cluster has no queue '{}'", short_name(change.queue.id)));
    check_parent(queues, change.queue, where);
    *queue = change.queue;
    core::check_queue_tree(queues, where);  // its depth
  }
}

void QuotaTimetable::put_instants(std::set<TimeUs>& instants) const {
  for (const core::QueueChange& change : changes_) instants.insert(change.at_us);
}

bool QuotaTimetable::take(TimeUs now, std::vector<Delta>& out) {
  const std::size_t before = next_;
  for (; next_ < changes_.size() && changes_[next_].at_us <= now; ++next_) out.push_back(delta::PutQueue{changes_[next_].queue});
  return next_ != before;
}

}  // namespace berth::sim
