#include "host/sim/replay/quota_timetable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "berth/kernel/base/to_index.hpp"
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
  std::string near_gpu_type(std::string_view id) const override { return core::near_id(id, types_); }

 private:
  const std::vector<GpuType>& types_;
};

Queue* find_queue(std::vector<Queue>& queues, std::string_view id) {
  const auto found = std::find_if(queues.begin(), queues.end(), [&](const Queue& queue) { return queue.id == id; });
  return found == queues.end() ? nullptr : &*found;
}

// What a queue allows of a GPU type, or of "*", in millionths of a GPU.
__int128 cap_of(const Queue& queue, std::string_view gpu_type) {
  const auto found = std::find_if(queue.quotas.begin(), queue.quotas.end(), [&](const Quota& one) { return one.gpu_type == gpu_type; });
  std::int64_t cap = kUnlimited;
  if (found != queue.quotas.end()) {
    cap = found->limit;
    if (found->borrowing != kUnlimited)
      cap = cap == kUnlimited ? found->guarantee + found->borrowing : std::min(cap, found->guarantee + found->borrowing);
  }
  return cap == kUnlimited ? __int128{INT64_MAX} * kWholeGpu : __int128{cap} * kWholeGpu;
}

// What a job asks for in one of its alternatives.
struct LimitedShape {
  std::string_view gpu_type;
  std::int64_t ppm = 0;
};

bool allows(std::vector<Queue>& queues, std::string_view queue, const LimitedShape& asked) {
  for (const Queue* one = find_queue(queues, queue); one != nullptr;
       one = one->parent.empty() ? nullptr : find_queue(queues, one->parent)) {
    if (asked.ppm > cap_of(*one, "*") || asked.ppm > cap_of(*one, asked.gpu_type)) return false;
  }
  return true;
}

// The alternatives that have GPUs enough.
std::vector<LimitedShape> alternatives(const StateView& state, std::int32_t job) {
  const kernel::ProblemView& p = state.problem();
  std::vector<std::int64_t> gpus(state.gpu_types().size(), 0);
  for (std::size_t n = 0; n < state.nodes().size(); ++n) gpus[to_index(state.node().type[n])] += state.nodes()[n].gpus;
  std::vector<LimitedShape> all;
  for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
    const kernel::DemandRow& demand = p.demands[p.options[o].demand];
    if (demand.quota <= gpus[to_index(demand.gpu_type)] * kWholeGpu)
      all.push_back({state.gpu_types()[to_index(demand.gpu_type)].id, demand.quota});
  }
  return all;
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
    if (parent == nullptr) {
      where.fail_at("parent", fmt::format("there is no queue '{}'{}", short_name(up), core::near_id(up, queues, changed.id)));
    }
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
    if (queue == nullptr)
      where.fail_at("id",
                    fmt::format("the cluster has no queue '{}'{}", short_name(change.queue.id), core::near_id(change.queue.id, queues)));
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

QuotaTimetable::Limits QuotaTimetable::limits_of(const StateView& state, std::int32_t job) const {
  Limits found;
  const std::int32_t queue = state.job().queue[to_index(job)];
  if (changes_.empty() || queue < 0) return found;
  const std::string_view name = state.queues()[to_index(queue)].id;
  std::vector<Queue> queues = state.queues();
  std::vector<LimitedShape> asked = alternatives(state, job);
  // Those that limits allow now cannot run for other reasons.
  asked.erase(std::remove_if(asked.begin(), asked.end(), [&](const LimitedShape& one) { return allows(queues, name, one); }), asked.end());
  found.exceeded = !asked.empty();
  for (std::size_t i = next_; found.exceeded && i < changes_.size();) {
    const TimeUs at = changes_[i].at_us;
    for (; i < changes_.size() && changes_[i].at_us == at; ++i) *find_queue(queues, changes_[i].queue.id) = changes_[i].queue;
    if (!std::any_of(asked.begin(), asked.end(), [&](const LimitedShape& one) { return allows(queues, name, one); })) continue;
    found.raised_at_us = at;
    break;
  }
  return found;
}

bool QuotaTimetable::lets_wait(const StateView& state, std::int32_t job_index, LiveJob& job) const {
  if (state.now() < job.limits_raised_us) return true;
  const Limits limits = limits_of(state, job_index);
  if (!limits.exceeded) return false;
  if (limits.raised_at_us != kNever && limits.raised_at_us <= state.last_start(job_index)) {
    job.limits_raised_us = limits.raised_at_us;
    return true;
  }
  job.lose_all();
  return false;
}

}  // namespace berth::sim
