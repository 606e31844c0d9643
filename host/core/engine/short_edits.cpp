#include "host/core/engine/short_edits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/suggest.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/domain_levels.hpp"
#include "host/core/policy_api/chosen_policy.hpp"

namespace berth::core {
namespace {

constexpr std::size_t kMostShown = 80;             // bytes of a text that a message repeats
constexpr std::int64_t kMostAddedNodes = 100'000;  // by one form

std::string shown_form(std::string_view text) {
  std::size_t end = std::min(text.size(), kMostShown);
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return escape_control(text.substr(0, end)) + (end < text.size() ? "..." : "");
}

/// All of the text is a whole number from `least` to `most`.
std::optional<std::int64_t> whole_from(std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) return std::nullopt;
  return value;
}

/// "1.5h": at most six digits after the point.
std::optional<TimeUs> duration_of(std::string_view text) {
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {{"us", 1},           {"ms", 1'000},          {"s", kSecond},
                                                                  {"m", 60 * kSecond}, {"h", 3'600 * kSecond}, {"d", 86'400 * kSecond}};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto* unit = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const auto& one) { return one.first == text.substr(digits); });
  if (unit == std::end(kUnits)) return std::nullopt;
  const std::string_view number = text.substr(0, digits);
  const std::size_t point = std::min(number.find('.'), number.size());
  const std::string_view part = point == number.size() ? std::string_view() : number.substr(point + 1);
  const auto before = whole_from(number.substr(0, point), 0, kMaxTimeUs / unit->second);
  if (!before || (point < number.size() && (part.empty() || part.size() > 6))) return std::nullopt;
  TimeUs value = *before * unit->second;
  if (!part.empty()) {
    const auto after = whole_from(part, 0, 999'999);
    std::int64_t scale = 1;
    for (std::size_t i = 0; i < part.size(); ++i) scale *= 10;
    if (!after || *after * unit->second % scale != 0) return std::nullopt;
    value += *after * unit->second / scale;
  }
  return value <= kMaxTimeUs ? std::optional(value) : std::nullopt;
}

/// What "4x8xH100@rack:r9" names after its last "@".
std::string_view domain_in(std::string_view add) {
  const std::size_t at = add.rfind('@');
  return at == add.npos ? std::string_view() : add.substr(at + 1);
}

constexpr std::pair<std::string_view, std::int64_t Quota::*> kFigures[] = {
    {"guarantee", &Quota::guarantee}, {"limit", &Quota::limit}, {"borrowing", &Quota::borrowing}, {"lending", &Quota::lending}};

std::string_view figure_name(std::int64_t Quota::*figure) {
  return std::find_if(std::begin(kFigures), std::end(kFigures), [&](const auto& one) { return one.second == figure; })->first;
}

class EditExpander {
 public:
  EditExpander(const StateImpl& state, const ShortEdit& forms) : s_(state), forms_(forms) {}

  std::vector<Delta> run() {
    for (const std::string& text : forms_.cancel) cancel(text);
    for (const std::string& text : forms_.priority) set_priority(text);
    for (const std::string& text : forms_.quota) set_quota(text);
    for (auto& [id, queue] : queues_) out_.emplace_back(delta::PutQueue{std::move(queue)});
    for (const std::string& text : forms_.drain) drain(text);
    for (const std::string& text : forms_.remove) remove(text);
    for (const std::string& text : forms_.add) add(text);
    for (const std::string& text : forms_.job) submit(text);
    return std::move(out_);
  }

 private:
  [[noreturn]] static void refuse(std::string_view form, std::string_view text, std::string_view problem) {
    throw InvalidArgument(fmt::format("{}: '{}': {}", form, shown_form(text), problem));
  }

  template <class Objects>
  [[noreturn]] static void refuse_unknown(std::string_view form, std::string_view what, std::string_view id, const Objects& objects) {
    std::vector<std::string_view> names;
    names.reserve(objects.size());
    for (const auto& one : objects) names.push_back(one.id);
    throw InvalidArgument(fmt::format("{}: no {} '{}'{}", form, what, shown_form(id), did_you_mean(id, names)));
  }

  std::int32_t job_of(std::string_view form, const std::string& id) const {
    const auto found = s_.index_of_job.find(id);
    if (found != s_.index_of_job.end()) return found->second;
    std::vector<std::string_view> names;
    for (const std::int32_t job : s_.job_order) names.push_back(s_.jobs[to_index(job)].job->id);
    throw InvalidArgument(fmt::format("{}: no job '{}'{}", form, shown_form(id), did_you_mean(id, names)));
  }

  void once_by_job(std::string_view form, const std::string& id) {
    const auto [other, first] = by_job_.emplace(id, form);
    if (first) return;
    throw InvalidArgument(other->second == form ? fmt::format("{}: '{}' is given twice", form, shown_form(id))
                                                : fmt::format("{}: job '{}' is cancelled, too", form, shown_form(id)));
  }

  void cancel(const std::string& text) {
    job_of("cancel", text);
    once_by_job("cancel", text);
    out_.emplace_back(delta::RemoveJob{text, ""});
  }

  void set_priority(const std::string& text) {
    const std::size_t equals = text.rfind('=');
    const auto value = equals == text.npos ? std::nullopt : whole_from(std::string_view(text).substr(equals + 1), INT32_MIN, INT32_MAX);
    if (!value || equals == 0) refuse("priority", text, "expected JOB=N with a whole number of 32 bits");
    const std::string id = text.substr(0, equals);
    const std::int32_t index = job_of("priority", id);
    once_by_job("priority", id);
    Job job = *s_.jobs[to_index(index)].job;
    s_.advance(index, job.progress);
    job.priority = static_cast<std::int32_t>(*value);
    out_.emplace_back(delta::PutJob{std::move(job)});
  }

  Queue& queue_of(const Queue& queue) { return queues_.emplace(queue.id, queue).first->second; }

  const Queue* find_queue(std::string_view id) const {
    const auto found = std::find_if(s_.queues.begin(), s_.queues.end(), [&](const Queue& queue) { return queue.id == id; });
    return found == s_.queues.end() ? nullptr : &*found;
  }

  bool is_type(std::string_view type) const {
    return std::any_of(s_.gpu_types.begin(), s_.gpu_types.end(), [&](const GpuType& one) { return one.id == type; });
  }
  void require_type(std::string_view form, std::string_view type) const {
    if (!is_type(type)) refuse_unknown(form, "GPU type", type, s_.gpu_types);
  }

  void set_quota(const std::string& text) {
    const std::size_t equals = text.rfind('=');
    if (equals == text.npos || equals == 0) refuse("quota", text, "expected QUEUE=N, QUEUE=xN, QUEUE.limit=N, or one of them with :TYPE");
    std::string_view id = std::string_view(text).substr(0, equals), value = std::string_view(text).substr(equals + 1), type = "*";
    if (const std::size_t colon = value.find(':'); colon != value.npos) {
      type = value.substr(colon + 1);
      value = value.substr(0, colon);
      if (type != "*") require_type("quota", type);
    }
    const auto* figure = &kFigures[0];
    const Queue* queue = find_queue(id);
    const std::size_t dot = id.rfind('.');
    if (queue == nullptr && dot != id.npos) {
      figure = std::find_if(std::begin(kFigures), std::end(kFigures), [&](const auto& one) { return one.first == id.substr(dot + 1); });
      if (figure == std::end(kFigures)) refuse("quota", text, "expected guarantee, limit, borrowing or lending after the queue");
      id = id.substr(0, dot);
      queue = find_queue(id);
    }
    if (queue == nullptr) refuse_unknown("quota", "queue", id, s_.queues);
    if (value.substr(0, 1) == "x") return multiply_quota(text, *queue, value.substr(1), type, figure->second);
    std::int64_t number = kUnlimited;
    if (value != "none" || figure->second == &Quota::guarantee) {
      const auto stated = whole_from(value, 0, std::int64_t{1'000'000'000'000});
      if (!stated)
        refuse("quota", text, "expected a whole number of GPUs from 0 to 10^12, a factor such as x2, or none where it is no guarantee");
      number = *stated;
    }
    if (!quotas_set_.emplace(id, type, figure->first).second) refuse("quota", text, "this figure is given twice");
    std::vector<Quota>& quotas = queue_of(*queue).quotas;
    auto row = std::find_if(quotas.begin(), quotas.end(), [&](const Quota& one) { return one.gpu_type == type; });
    if (row == quotas.end()) {
      quotas.emplace_back().gpu_type = type;
      row = quotas.end() - 1;
    }
    (*row).*(figure->second) = number;
  }

  /// "x2", "x1.5": all that the queue states of a figure, or what it states for one GPU type; rounded down.
  void multiply_quota(const std::string& text, const Queue& queue, std::string_view factor, std::string_view type,
                      std::int64_t Quota::*figure) {
    const std::size_t point = std::min(factor.find('.'), factor.size());
    std::string digits(factor.substr(0, point));
    std::int64_t scale = 1;
    constexpr std::size_t kMostPlaces = 6;
    for (const char c : factor.substr(std::min(factor.size(), point + 1)).substr(0, kMostPlaces)) digits += c, scale *= 10;
    const auto times = whole_from(digits, 0, 1'000'000'000);
    if (!times || point == 0 || point + 1 == factor.size() || factor.size() > point + 1 + kMostPlaces)
      refuse("quota", text, "expected a factor such as x2 or x1.5");
    constexpr std::int64_t kMostQuota = 1'000'000'000'000;
    bool any = false;
    for (Quota& row : queue_of(queue).quotas) {
      std::int64_t& stated = row.*figure;
      const bool none = figure == &Quota::guarantee ? stated == 0 : stated == kUnlimited;
      if ((type != "*" && row.gpu_type != type) || none) continue;
      if (!quotas_set_.emplace(queue.id, row.gpu_type, figure_name(figure)).second) refuse("quota", text, "this figure is given twice");
      stated = std::min(kMostQuota, core::mul_div(std::min(stated, kMostQuota), *times, scale));
      any = true;
    }
    if (!any) refuse("quota", text, fmt::format("queue '{}' states no {} to multiply", shown_form(queue.id), figure_name(figure)));
  }

  static bool is_in(const Node& node, const Domain& domain, const std::string& path) {
    const std::string& at = node.domain[static_cast<std::size_t>(domain.topology)];
    return at == path || (at.size() > path.size() && at[path.size()] == '/' && at.compare(0, path.size(), path) == 0);
  }

  /// The domain LEVEL:ID or LEVEL:FULL/PATH, and its path.
  std::pair<const Domain*, std::string> domain_of(std::string_view form, const std::string& text, std::string_view no_node) const {
    const std::size_t colon = text.find(':');
    const std::string_view level = std::string_view(text).substr(0, colon), name = std::string_view(text).substr(colon + 1);
    std::vector<std::string_view> levels, names;
    std::vector<std::pair<const Domain*, std::string>> matches;
    for (const Domain& domain : s_.domains) {
      levels.push_back(domain.level);
      if (domain.level != level) continue;
      std::string path = path_of(domain);
      names.push_back(domain.id);
      if (domain.id == name || path == name) matches.emplace_back(&domain, std::move(path));
    }
    if (names.empty())
      throw InvalidArgument(fmt::format("{}: {}no level '{}'{}", form, no_node, shown_form(level), did_you_mean(level, levels)));
    if (matches.empty()) {
      const std::string near = did_you_mean(name, names);
      const std::string known =
          fmt::format(" ({} are {}{})", level,
                      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(3, names.size())), ", "),
                      names.size() > 3 ? " ..." : "");
      throw InvalidArgument(fmt::format("{}: no {} '{}'{}", form, level, shown_form(name), near.empty() ? known : near));
    }
    if (matches.size() > 1) {
      refuse(form, text,
             fmt::format("{} domains have this name; give a full path, such as {}:{}", matches.size(), level, matches.front().second));
    }
    return matches.front();
  }

  /// Nodes by rank: the node of that id, or those of a domain.
  std::vector<std::int32_t> nodes_of(std::string_view form, const std::string& text) const {
    if (const auto found = s_.node_rank.find(text); found != s_.node_rank.end()) return {found->second};
    const std::size_t colon = text.find(':');
    if (colon == text.npos || colon == 0) {
      std::vector<std::string> names;
      for (const Domain& domain : s_.domains) names.push_back(domain.level + ":" + domain.id);
      std::vector<std::string_view> all(names.begin(), names.end());
      for (const Node& node : s_.nodes) all.push_back(node.id);
      throw InvalidArgument(fmt::format("{}: no node '{}'{} (a domain is named LEVEL:DOMAIN, such as rack:r1)", form, shown_form(text),
                                        did_you_mean(text, all)));
    }
    const auto [domain, path] = domain_of(form, text, fmt::format("no node '{}', and ", shown_form(text)));
    std::vector<std::int32_t> ranks;
    for (std::size_t rank = 0; rank < s_.nodes.size(); ++rank) {
      if (is_in(s_.nodes[rank], *domain, path)) ranks.push_back(static_cast<std::int32_t>(rank));
    }
    if (ranks.empty()) refuse(form, text, "no node is in this domain");
    return ranks;
  }

  void drain(const std::string& text) {
    for (const std::int32_t rank : nodes_of("drain", text)) {
      const Node& node = s_.nodes[to_index(rank)];
      if (drained_.insert(rank).second) out_.emplace_back(delta::SetNodeState{node.id, NodeState::kDrain, node.available_from_us});
    }
  }

  // Jobs there stop first, and wait.
  void remove(const std::string& text) {
    for (const std::int32_t rank : nodes_of("remove", text)) {
      const std::string& id = s_.nodes[to_index(rank)].id;
      if (drained_.count(rank) != 0) refuse("remove", text, fmt::format("node '{}' is drained, too", id));
      if (removed_.insert(rank).second) removed_ids_.insert(id);
    }
    for (const std::int32_t job : s_.job_order) {
      if (s_.job.running[to_index(job)] == 0) continue;
      const Job& runs = *s_.jobs[to_index(job)].job;
      const auto cancelled = by_job_.find(runs.id);
      if (cancelled != by_job_.end() && cancelled->second == "cancel") continue;
      const auto& entries = runs.allocation.entries;
      const bool there =
          std::any_of(entries.begin(), entries.end(), [&](const AllocationEntry& entry) { return removed_ids_.count(entry.node) != 0; });
      if (there && stopped_.insert(job).second) out_.emplace_back(delta::StopJob{runs.id});
    }
    for (const std::string& id : removed_ids_) {
      if (gone_.insert(id).second) out_.emplace_back(delta::RemoveNode{id});
    }
  }

  std::string new_node_id() {
    std::string id;
    do id = fmt::format("new-node-{}", ++new_nodes_);
    while (s_.node_rank.count(id) != 0);
    return id;
  }

  // Each joins the domain that is named, else the smallest of the lowest switch domains with such nodes. It is like the first such node
  // there, else like the first one of the cluster.
  void add(const std::string& text) {
    const std::size_t first = text.find('x'), second = first == text.npos ? first : text.find('x', first + 1);
    if (second == text.npos) refuse("add", text, "expected NODESxGPUSxTYPE, and @LEVEL:DOMAIN where wanted, such as 4x8xH100@rack:r9");
    const std::string_view all = text;
    const auto nodes = whole_from(all.substr(0, first), 1, kMostAddedNodes);
    const auto gpus = whole_from(all.substr(first + 1, second - first - 1), 0, kMaxGpusPerNode);
    if (!nodes || !gpus) {
      refuse("add", text, fmt::format("expected 1 to {} nodes of 0 to {} GPUs, such as 4x8xH100", kMostAddedNodes, kMaxGpusPerNode));
    }
    std::string type(all.substr(second + 1));
    const Domain* domain = nullptr;
    std::string path;
    if (const std::size_t at = type.rfind('@'); at != type.npos && !is_type(type)) {
      std::tie(domain, path) = domain_of("add", type.substr(at + 1), "");
      type.resize(at);
    }
    require_type("add", type);
    struct Place {
      const Node* first = nullptr;
      std::int64_t nodes = 0;
    };
    // Without a domain: by that of the switches. With one: a single place.
    const auto places_of = [&](bool same_size, bool there) {
      std::map<std::string, Place> places;
      for (const Node& node : s_.nodes) {
        if (node.gpu_type != type || (same_size && node.gpus != *gpus) || (there && !is_in(node, *domain, path))) continue;
        Place& place = places[domain != nullptr ? path : node.domain[static_cast<std::size_t>(TopologyKind::kSwitch)]];
        if (place.first == nullptr) place.first = &node;
        ++place.nodes;
      }
      return places;
    };
    std::map<std::string, Place> places;
    bool same_size = true;
    if (domain != nullptr) places = places_of(true, true);
    const bool elsewhere = domain != nullptr && places.empty();  // the node that new ones are like is in other domains
    if (places.empty()) places = places_of(true, false);
    if (places.empty()) {
      same_size = false;
      places = places_of(false, false);
    }
    for (std::int64_t i = 0; i < *nodes; ++i) {
      const auto smallest =
          std::min_element(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.second.nodes < b.second.nodes; });
      Node node;
      if (smallest != places.end()) {
        node = *smallest->second.first;
        ++smallest->second.nodes;
      }
      node.id = new_node_id();
      if (elsewhere) node.domain = {};
      if (domain != nullptr) node.domain[static_cast<std::size_t>(domain->topology)] = path;
      node.gpu_type = type;
      node.gpus = static_cast<std::int32_t>(*gpus);
      if (!same_size) node.gpu_list.clear();
      for (Gpu& gpu : node.gpu_list) {
        gpu.state = GpuState::kOk;
        gpu.free_at_us = kNever;
      }
      node.state = NodeState::kReady;
      node.available_from_us = 0;
      node.available_until_us = kNever;
      node.x.clear();
      out_.emplace_back(delta::PutNode{std::move(node)});
    }
  }

  void submit(const std::string& text) {
    constexpr std::string_view kExpected = "expected GPUSxTIME, and then @QUEUE and :TYPE where wanted, such as 16x1h@team:H100";
    const std::size_t cross = text.find('x'), end = std::min(text.find_first_of("@:"), text.size());
    if (cross == text.npos || cross > end) refuse("job", text, kExpected);
    const std::string_view all = text;
    const auto gpus = whole_from(all.substr(0, cross), 1, kMaxGpusPerJob);
    const auto run = duration_of(all.substr(cross + 1, end - cross - 1));
    if (!gpus || !run || *run == 0) refuse("job", text, kExpected);
    std::string queue, type;
    bool typed = end < text.size() && text[end] == ':';
    if (typed) {
      type = all.substr(end + 1);
    } else if (end < text.size()) {
      queue = all.substr(end + 1);
      const std::size_t colon = queue.rfind(':');
      typed = find_queue(queue) == nullptr && colon != queue.npos;
      if (typed) {
        type = queue.substr(colon + 1);
        queue.resize(colon);
      }
      if (find_queue(queue) == nullptr) refuse_unknown("job", "queue", queue, s_.queues);
    }
    if (typed) require_type("job", type);
    Job job;
    do job.id = ++new_jobs_ == 1 ? "new-job" : fmt::format("new-job-{}", new_jobs_);
    while (s_.index_of_job.count(job.id) != 0);
    job.queue = queue;
    job.submit_us = s_.now;
    job.estimate.run_us = *run;
    job.estimate.source = "user";
    Shape& shape = job.shapes.emplace_back();
    shape.id = fmt::to_string(*gpus);
    shape.gpus = static_cast<std::int32_t>(*gpus);
    shape.gpu_type = type;
    out_.emplace_back(delta::PutJob{std::move(job)});
  }

  const StateImpl& s_;
  const ShortEdit& forms_;
  std::vector<Delta> out_;
  std::map<std::string, std::string_view> by_job_;  // the form that names it
  std::map<std::string, Queue> queues_;             // with their new quotas
  std::set<std::tuple<std::string, std::string, std::string_view>> quotas_set_;
  std::set<std::int32_t> drained_, removed_, stopped_;
  std::set<std::string> removed_ids_, gone_;
  std::int64_t new_nodes_ = 0, new_jobs_ = 0;
};

void set_policy(const std::string& text, Edit& edit) {
  std::size_t end = std::min(text.find('@'), text.size());
  edit.policy = text.substr(0, end);
  Params& params = edit.params.emplace();
  while (end < text.size()) {
    const std::size_t begin = end + 1;
    end = std::min(text.find('@', begin), text.size());
    const std::string param = text.substr(begin, end - begin);
    const std::size_t equals = param.find('=');
    if (equals == param.npos || equals == 0) {
      throw InvalidArgument(fmt::format("policy: '{}': expected NAME@PARAM=VALUE, such as srsf@discipline=easy", shown_form(text)));
    }
    params.emplace_back(param.substr(0, equals), param.substr(equals + 1));
  }
  std::vector<std::string_view> names;
  const std::vector<PolicyInfo> known = policies();
  names.reserve(known.size());
  for (const PolicyInfo& info : known) names.push_back(info.name);
  if (std::find(names.begin(), names.end(), *edit.policy) == names.end()) {
    throw InvalidArgument(fmt::format("policy: no policy '{}'{}", shown_form(*edit.policy), did_you_mean(*edit.policy, names)));
  }
  try {
    ChosenPolicy().choose(*edit.policy, params);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(std::string("policy: ") + error.what());
  }
}

}  // namespace

void expand_edit(const StateView& state, const ShortEdit& forms, Edit& edit) {
  std::vector<Delta> deltas = EditExpander(impl_of(state), forms).run();
  edit.deltas.insert(edit.deltas.begin(), std::make_move_iterator(deltas.begin()), std::make_move_iterator(deltas.end()));
  if (!forms.policy.empty()) set_policy(forms.policy, edit);
}

void new_domains(const StateView& state, const ShortEdit& forms, std::vector<Domain>& found) {
  std::vector<Domain> known = impl_of(state).domains;
  known.insert(known.end(), found.begin(), found.end());
  for (const std::string& text : forms.add) {
    const std::string_view named = domain_in(text);
    const std::size_t colon = named.find(':');
    if (colon == named.npos || colon + 1 == named.size()) continue;
    const std::string_view level = named.substr(0, colon), name = named.substr(colon + 1);
    std::set<std::string> parents;
    const Domain* like = nullptr;
    bool exists = false;
    for (const Domain& domain : known) {
      if (domain.level != level) continue;
      exists = exists || domain.id == name || path_of(domain) == name;
      parents.insert(domain.parent);
      like = &domain;
    }
    if (exists || like == nullptr) continue;
    Domain domain = *like;
    const std::size_t slash = name.rfind('/');
    domain.id = name.substr(slash == name.npos ? 0 : slash + 1);
    if (slash != name.npos) domain.parent = name.substr(0, slash);
    if (parents.count(domain.parent) == 0 || (slash == name.npos && parents.size() > 1)) {
      throw InvalidArgument(fmt::format("add: '{}': a new {} is named with what it is below, such as {}:{}/{}", shown_form(text), level,
                                        level, *parents.begin(), shown_form(domain.id)));
    }
    known.push_back(domain);
    found.push_back(std::move(domain));
  }
}

ClusterState with_domains(const ClusterState& state, const std::vector<Domain>& domains) {
  Snapshot snapshot = state.snapshot();
  snapshot.domains.insert(snapshot.domains.end(), domains.begin(), domains.end());
  return ClusterState(std::move(snapshot));
}

}  // namespace berth::core
