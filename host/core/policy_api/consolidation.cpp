#include "host/core/policy_api/consolidation.hpp"

#include <algorithm>

#include "berth/job.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/model/profile.hpp"
#include "host/core/state/span.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::GroupRow;
using kernel::kNone;

constexpr auto kBySwitch = static_cast<std::int32_t>(TopologyKind::kSwitch);

bool digit_char(char c) { return c >= '0' && c <= '9'; }

// In lower case; 0 for what is neither letter nor digit.
char plain_char(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return digit_char(c) || (c >= 'a' && c <= 'z') ? c : '\0';
}

// Whether the model's plain name begins with `known` and no digit follows a digit there: resnet15 is not a prefix of
// resnet152.
bool begins_with(std::string_view model, std::string_view known) {
  std::size_t matched = 0;
  for (const char raw : model) {
    const char c = plain_char(raw);
    if (c == '\0') continue;
    if (matched == known.size()) return !digit_char(c) || !digit_char(known.back());
    if (c != known[matched]) return false;
    ++matched;
  }
  return matched == known.size();
}

// One group of whole GPUs without rules about its spread: only these can be narrowed.
bool plain_gang(const kernel::DemandRow& demand, const GroupRow& row) {
  return demand.group_end - demand.group_begin == 1 && row.share_ppm == kWholeGpu && row.segment_size == 0 && row.spread_most == 0;
}

// The widest level at which an option has the measured rate of its tightest span; kNone: it has that rate everywhere.
std::int32_t level_without_loss(const StateImpl& s, const JobRecord& record, std::size_t option) {
  const Job& job = *record.job;
  if (job.profile.kind != ProfileKind::kTable || record.option_rate[option] <= 0) return kNone;
  const kernel::DemandRow& demand = s.demands.rows()[to_index(record.options[option].demand)];
  const Shape& shape = job.shapes[to_index(record.options[option].shape)];
  SpanInfo span = tightest_span(s, demand.gpu_type, demand.gpus);
  const std::int64_t rate = profile_rate(job, shape, span);
  if (span.nodes < 2) span.nodes = 2;
  for (std::int32_t level = span.level + 1; level < s.topologies.levels(kBySwitch); ++level) {
    span.level = level;
    span.level_name = s.topologies.level_name(kBySwitch, level);
    if (profile_rate(job, shape, span) < rate) return level - 1;
  }
  return kNone;
}

}  // namespace

std::string Consolidation::plain(std::string_view model) {
  std::string name;
  for (const char raw : model) {
    if (const char c = plain_char(raw); c != '\0') name += c;
  }
  return name;
}

bool Consolidation::applies_to(const Job& job) const {
  return std::none_of(scattered.begin(), scattered.end(), [&](const std::string& known) { return begins_with(job.profile.model, known); });
}

void Consolidator::begin(const StateImpl& s, const Consolidation& rule) {
  problem_ = &s.problem();
  // The lower half counts demands; known ones stay valid.
  const std::uint64_t structure = s.structure_version() >> 32;
  if (served_.lock() != s.identity || structure != structure_ || rule.whole_nodes != whole_nodes_) known_.clear();
  known_.resize(to_index(problem_->topology[kBySwitch].levels));
  served_ = s.identity;
  structure_ = structure;
  whole_nodes_ = rule.whole_nodes;
  for (std::vector<std::int32_t>& level : known_) level.resize(s.demands.rows().size(), kNone);
  total_.begin(*problem_, s.total_supply(), false);
}

// Whether the nodes, if empty, hold all members; with `whole` > 0 on the fewest nodes of `whole` members, and one for
// the rest.
bool Consolidator::holds(std::span<const std::int32_t> nodes, const GroupRow& row, std::int32_t whole) const {
  std::int64_t members = 0, full = 0, for_rest = 0;
  const std::int32_t rest = whole > 0 ? row.members % whole : 0;
  for (const std::int32_t n : nodes) {
    const std::int64_t room = room_[to_index(n)];
    members += room;
    full += whole > 0 && room >= whole ? 1 : 0;
    for_rest += room >= rest ? 1 : 0;
  }
  if (whole == 0) return members >= row.members;
  const std::int32_t wanted = row.members / whole;
  return full >= wanted && (rest == 0 || for_rest > wanted);
}

// The lowest level with a named domain that holds the gang; kNone: not even the cluster does.
std::int32_t Consolidator::lowest_level(const GroupRow& row, std::int32_t whole, std::int32_t from) {
  const bool asks = row.require_level != kNone;
  const std::int32_t topology = asks ? row.require_topology : kBySwitch;
  const kernel::TopologyView& f = problem_->topology[topology];
  for (std::int32_t level = asks ? row.require_level : from; level < f.levels; ++level) {
    if (asks && level > row.require_level) break;
    const std::int32_t begin = level == 0 ? 0 : f.level_begin[level];
    const std::int32_t end = level == 0 ? problem_->n_nodes : f.level_begin[level + 1];
    for (std::int32_t domain = begin; domain < end; ++domain) {
      const bool cluster = level == f.levels - 1;
      if (level > 0 && !cluster && problem_->domains.named[domain] == 0) continue;
      nodes_.assign(1, domain);
      if (level > 0) nodes_.assign(f.order + problem_->domains.first[domain], f.order + problem_->domains.last[domain]);
      if (holds(nodes_, row, whole)) return level;
    }
  }
  return kNone;
}

std::int32_t Consolidator::close(const StateImpl& s, std::int32_t demand, std::int32_t from) {
  const kernel::DemandRow row = s.demands.rows()[to_index(demand)];
  const GroupRow gang = s.demands.groups()[to_index(row.group_begin)];
  if (!plain_gang(row, gang)) return demand;
  const std::uint64_t* lasting = s.filters.lasting() + std::int64_t{row.filter} * problem_->n_words;
  room_.assign(to_index(problem_->n_nodes), 0);
  for (std::int32_t n = 0; n < problem_->n_nodes; ++n) {
    if ((lasting[n / 64] >> (n % 64) & 1) != 0) room_[to_index(n)] = total_.members(total_.row(n), gang, Stage::kMemory, kNever);
  }
  // Members of several GPUs are not combined into whole nodes.
  std::int32_t whole = whole_nodes_ && gang.gpus == 1 ? s.type_size[to_index(row.gpu_type)].gpus_per_node : 0;
  std::int32_t level = lowest_level(gang, whole, from);
  if (level == kNone && whole > 0) {
    whole = 0;  // nodes differ: there could never be enough whole ones
    level = lowest_level(gang, whole, from);
  }
  if (level == kNone) return demand;
  const bool cluster = level == problem_->topology[kBySwitch].levels - 1;
  std::int32_t narrowed = demand;
  const bool one_member = whole > 0 && level == 0;  // is on one node anyway
  if (gang.require_level == kNone && !cluster && !one_member) narrowed = s.demands.within(demand, kBySwitch, level);
  return whole > 0 ? s.demands.consolidated(narrowed, whole) : narrowed;
}

void Consolidator::apply(const StateImpl& s, const Consolidation& rule, std::span<kernel::OptionRow> options) {
  begin(s, rule);
  for (const std::int32_t job : s.job_order) {
    if (!rule.applies_to(*s.jobs[to_index(job)].job)) continue;
    for (std::int32_t o = problem_->option_begin[job]; o < problem_->option_end[job]; ++o) {
      const std::int32_t asked = rule.measured ? options[to_index(o)].demand : problem_->options[o].demand;
      std::int32_t from = rule.whole_nodes ? 0 : 1;
      if (rule.measured) from = level_without_loss(s, s.jobs[to_index(job)], to_index(o - problem_->option_begin[job]));
      if (from == kNone) continue;
      std::int32_t& known = known_[to_index(from)][to_index(asked)];
      if (known == kNone) known = close(s, asked, from);
      options[to_index(o)].demand = known;
    }
  }
}

}  // namespace berth::core
