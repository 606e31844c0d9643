#include "host/cli/sweep/sweep_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <utility>

#include "berth/error.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/request.hpp"
#include "host/cli/base/values.hpp"
#include "host/core/base/suggest.hpp"
#include "host/io/json/json_writer.hpp"
#include "host/results/sha256.hpp"
#include "host/sim/base/estimator.hpp"
#include "host/sim/iterations/ada_srsf.hpp"
#include "host/sim/replay/progress_reports.hpp"

namespace berth::cli {
namespace {

using enum KeyKind;

constexpr std::array kRunKeys{
    RunKey{.name = "policy", .decides = true},
    RunKey{.name = "placement", .one_of = "count consolidate emptiest topology contention", .decides = true},
    RunKey{.name = "cluster", .kind = kFiles, .may_be_name = true},
    RunKey{.name = "add_nodes", .kind = kCount, .usual = "0"},
    RunKey{.name = "remove_nodes", .kind = kWords},
    RunKey{.name = "trace", .kind = kFiles},
    RunKey{.name = "trace_format", .usual = "trace"},
    RunKey{.name = "virtual_clusters", .usual = "nodes", .one_of = "nodes guarantees limits"},
    RunKey{.name = "workload", .one_of = "philly helios pai llm ones dally dally-gangs"},
    RunKey{.name = "jobs", .kind = kCount},
    RunKey{.name = "load"},
    RunKey{.name = "load_gpus", .kind = kCount},
    RunKey{.name = "window"},
    RunKey{.name = "resample"},
    RunKey{.name = "remove_users", .kind = kWords},
    RunKey{.name = "remove_virtual_clusters", .kind = kWords},
    RunKey{.name = "estimates", .usual = "oracle", .decides = true},
    RunKey{.name = "progress", .usual = "epochs", .decides = true},
    RunKey{.name = "overheads", .kind = kFiles, .usual = "none", .may_be_name = true},
    RunKey{.name = "events", .kind = kFiles},
    RunKey{.name = "failures", .kind = kWords},
    RunKey{.name = "round", .decides = true},
    RunKey{.name = "at_events", .kind = kFlag, .usual = "false", .decides = true},
    RunKey{.name = "elastic", .kind = kFlag, .usual = "false", .decides = true},
    RunKey{.name = "fidelity", .usual = "rate", .one_of = "rate tiers shared_links iteration"},
    RunKey{.name = "gpu_jobs", .kind = kCount, .usual = "1", .decides = true},
    RunKey{.name = "network", .kind = kWords},
    RunKey{.name = "warm_up"},
    RunKey{.name = "keep", .kind = kWords, .one_value = true},
};

constexpr std::array<std::string_view, 3> kKept{"jobs", "series", "groups"};

void require_known(std::string_view key, std::string_view text, const std::vector<std::string_view>& known) {
  if (std::find(known.begin(), known.end(), text) != known.end()) return;
  throw InvalidArgument(
      fmt::format("{}: unknown '{}' (known: {}){}", key, echoed(text), fmt::join(known, ", "), core::did_you_mean(text, known)));
}

std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::int64_t count_of(std::string_view key, std::string_view text, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most)
    throw InvalidArgument(fmt::format("{}: '{}': expected a number from {} to {}", key, echoed(text), least, most));
  return number;
}

// "7d..35d", where either end may be missing.
void parse_window(std::string_view text, sim::TraceChanges& changes) {
  if (text.empty()) return;
  const std::size_t dots = text.find("..");
  if (dots == text.npos) throw InvalidArgument(fmt::format("window: '{}': expected FROM..TO, such as 7d..35d", echoed(text)));
  const std::string_view from = text.substr(0, dots), to = text.substr(dots + 2);
  if (!from.empty()) changes.from_us = parse_duration(from);
  if (!to.empty()) changes.until_us = parse_duration(to);
  if (changes.from_us >= changes.until_us) throw InvalidArgument(fmt::format("window: '{}': it ends before it begins", echoed(text)));
}

std::string value_in(const RunTexts& texts, std::string_view key) {
  const auto found = texts.find(key);
  return found == texts.end() ? std::string(run_key(key)->usual) : found->second;
}

// Options of `berth simulate` are named as such in messages; here they are keys.
std::string as_key(std::string problem) {
  for (std::size_t at = problem.find("--"); at != std::string::npos; at = problem.find("--", at)) {
    const bool begins = at == 0 || problem[at - 1] == ' ' || problem[at - 1] == '\'';
    if (!begins || at + 2 >= problem.size() || problem[at + 2] < 'a' || problem[at + 2] > 'z') {
      at += 2;
      continue;
    }
    problem.erase(at, 2);
    for (; at < problem.size() && ((problem[at] >= 'a' && problem[at] <= 'z') || problem[at] == '-'); ++at) {
      if (problem[at] == '-') problem[at] = '_';
    }
  }
  return problem;
}

void check_values(const RunTexts& texts) {
  for (const auto& [key, text] : texts) {
    if (key.substr(0, kParamKey.size()) == kParamKey) continue;
    const RunKey& known = *run_key(key);
    if (!known.one_of.empty()) require_known(key, text, words_in(known.one_of));
    if (known.kind == kFlag) require_known(key, text, {"true", "false"});
  }
}

RunDraft parsed(const RunTexts& texts, const std::string& folder) {
  check_values(texts);
  const auto text = [&](std::string_view key) { return value_in(texts, key); };
  const auto files = [&](std::string_view key) {
    std::vector<std::string> names = parts_of_text(text(key));
    for (std::string& name : names) name = file_from(folder, name);
    return names;
  };
  const auto file_or_name = [&](std::string_view key) {
    const std::string name = text(key);
    std::error_code ignored;
    const std::string file = name.empty() ? name : file_from(folder, name);
    return std::filesystem::exists(file, ignored) ? file : name;
  };
  RunDraft draft;
  draft.policy = text("policy");
  draft.cluster = file_or_name("cluster");
  draft.cluster_changes = {count_of("add_nodes", text("add_nodes"), 0, kMaxNodes), parts_of_text(text("remove_nodes"))};
  draft.jobs.traces = files("trace");
  draft.jobs.format = text("trace_format");
  draft.jobs.virtual_clusters = text("virtual_clusters");
  draft.jobs.workload = text("workload");
  if (!text("jobs").empty()) draft.jobs.jobs = count_of("jobs", text("jobs"), 1, kMaxJobs);
  const bool recorded = !draft.jobs.traces.empty();
  if (recorded && !text("load").empty()) {
    draft.trace_changes.load_ppm = parse_load(text("load"));
  } else {
    draft.jobs.load = text("load");
  }
  if (!text("resample").empty()) {
    draft.trace_changes.block_us = parse_duration(text("resample"));
    if (draft.trace_changes.block_us <= 0) throw InvalidArgument("resample: a block takes a time above 0");
  }
  parse_window(text("window"), draft.trace_changes);
  if (!text("load_gpus").empty()) {
    if (text("load").empty() && recorded) throw InvalidArgument("load_gpus: there is no load that would refer to it");
    draft.load_gpus = count_of("load_gpus", text("load_gpus"), 1, std::int64_t{kMaxNodes} * kMaxGpusPerNode);
  }
  draft.trace_changes.remove_users = parts_of_text(text("remove_users"));
  draft.trace_changes.remove_virtual_clusters = parts_of_text(text("remove_virtual_clusters"));
  if (!recorded && !draft.trace_changes.none())
    throw InvalidArgument("window, resample, remove_users and remove_virtual_clusters change a trace, and there is none");
  draft.run.estimates = text("estimates");
  draft.run.progress = text("progress");
  draft.run.round = text("round");
  draft.run.events_too = text("at_events") == "true";
  draft.run.elastic = text("elastic") == "true";
  draft.world.overheads = file_or_name("overheads");
  if (!text("events").empty()) draft.world.events = file_from(folder, text("events"));
  draft.world.failures = parts_of_text(text("failures"));
  draft.iterations.fidelity = text("fidelity");
  draft.iterations.gpu_jobs = static_cast<std::int32_t>(count_of("gpu_jobs", text("gpu_jobs"), 1, 64));
  draft.iterations.network = parts_of_text(text("network"));
  draft.warm_up = text("warm_up");
  draft.keep = parts_of_text(text("keep"));
  for (const std::string& what : draft.keep) require_known("keep", what, {kKept.begin(), kKept.end()});
  if (draft.policy.empty()) throw InvalidArgument("policy: the key is missing");
  if (draft.jobs.traces.empty() == draft.jobs.workload.empty()) throw InvalidArgument("either trace or workload is required");
  if (!draft.jobs.workload.empty() && draft.cluster.empty()) throw InvalidArgument("cluster: with workload the key is required");
  if (!draft.jobs.workload.empty() && draft.keeps("jobs")) throw InvalidArgument("keep: jobs of a workload are drawn and not kept");
  return draft;
}

// Parameters that the policy lacks are for others.
Request request_for(const RunTexts& texts, const RunDraft& draft) {
  const std::vector<PolicyInfo> more{sim::ada_srsf_info()};
  const PolicyInfo info = find_policy_info(draft.policy.substr(0, draft.policy.find('@')), more);
  RequestOptions options;
  for (const auto& [key, text] : texts) {
    if (key.substr(0, kParamKey.size()) != kParamKey) continue;
    const std::string name = key.substr(kParamKey.size());
    const auto has = [&](const PolicyParam& param) { return param.name == name; };
    if (std::any_of(info.params.begin(), info.params.end(), has)) options.params.push_back(fmt::format("{}={}", name, text));
  }
  const std::string packing = value_in(texts, "placement");
  if (!packing.empty()) options.params.push_back("packing=" + packing);
  const std::vector<Request> requests = make_requests(options, {draft.policy}, more);
  check_iterations(draft.iterations, draft.run.estimates, requests, false);
  return requests.front();
}

}  // namespace

std::span<const RunKey> run_keys() { return kRunKeys; }

const RunKey* run_key(std::string_view name) {
  const auto* found = std::find_if(kRunKeys.begin(), kRunKeys.end(), [&](const RunKey& key) { return key.name == name; });
  return found == kRunKeys.end() ? nullptr : found;
}

bool RunDraft::keeps(std::string_view what) const { return std::find(keep.begin(), keep.end(), what) != keep.end(); }

std::vector<std::string> parts_of_text(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string file_from(const std::string& folder, const std::string& file) {
  if (file == "-") throw InvalidArgument("'-': runs are made again and again, so that standard input cannot be their file");
  const std::filesystem::path path(file);
  return path.is_absolute() || folder.empty() ? file : (std::filesystem::path(folder) / path).string();
}

WarmUp warm_up_of(std::string_view text) {
  WarmUp warm_up;
  if (text.empty()) return warm_up;
  if (text.back() == '%') {
    const auto part = parse_positive(text.substr(0, text.size() - 1), 4, 990'000);
    if (!part) throw InvalidArgument(fmt::format("warm_up: '{}': expected a part of the jobs below 100%, or a time", echoed(text)));
    warm_up.jobs_ppm = *part;
  } else {
    warm_up.time_us = parse_duration(text);
  }
  return warm_up;
}

RunDraft draft_of(const RunTexts& texts, const std::string& folder) {
  try {
    RunDraft draft = parsed(texts, folder);
    draft.request = request_for(texts, draft);
    sim::SimulationSettings settings;
    draft.run.put_into(settings);
    for (const std::string& rate : draft.world.failures) parse_failure_rate(rate, settings.failures);
    (void)sim::Estimator(draft.run.estimates, 0);
    (void)sim::ProgressReports(draft.run.progress, 0);
    (void)warm_up_of(draft.warm_up);
    return draft;
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(as_key(error.what()));
  }
}

std::string RunIdentity::hash_of(const std::string& file) {
  std::string& hash = hashes_[file];
  if (hash.empty()) hash = results::sha256_of_file(file);
  return hash;
}

std::string RunIdentity::of_inputs(const RunTexts& texts) {
  std::string all;
  for (const std::string& line : lines_of(texts, true)) all += line;
  return all;
}

std::string RunIdentity::of(const RunTexts& texts, const RunDraft& draft) {
  std::vector<std::string> lines = lines_of(texts, false);
  lines.push_back(fmt::format("policy={}\n", draft.request.policy));
  for (const auto& [name, value] : draft.request.params) lines.push_back(fmt::format("{}{}={}:{}\n", kParamKey, name, value.size(), value));
  std::stable_sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line;
  return all;
}

std::vector<std::string> RunIdentity::lines_of(const RunTexts& texts, bool inputs_only) {
  std::vector<std::string> lines;
  for (const auto& [key, text] : texts) {
    if (key.substr(0, kParamKey.size()) == kParamKey || key == "policy" || key == "placement") continue;
    const RunKey& known = *run_key(key);
    if (text == known.usual || (inputs_only && known.decides)) continue;
    std::string value;
    for (const std::string& part : parts_of_text(text)) {
      std::error_code ignored;
      const std::string file = known.kind == KeyKind::kFiles ? file_from(folder_, part) : "";
      const bool is_file = known.kind == KeyKind::kFiles && (!known.may_be_name || std::filesystem::exists(file, ignored));
      value += fmt::format("{}{}", value.empty() ? "" : " ", is_file ? hash_of(file) : fmt::format("{}:{}", part.size(), part));
    }
    lines.push_back(fmt::format("{}={}\n", key, value));
  }
  return lines;
}

std::string RunIdentity::json(const RunTexts& texts, std::int64_t seed) {
  io::JsonWriter out;
  out.object([&] {
    for (const auto& [key, text] : texts) {
      const std::vector<std::string> parts = parts_of_text(text);
      if (parts.size() == 1) {
        out.text(key, text);
      } else {
        out.list(key, parts, [&](const std::string& part) { out.string(part); });
      }
    }
    out.text("seed", fmt::format("{}", seed));
  });
  std::string text = out.finish();
  text.pop_back();  // the line's end
  return text;
}

}  // namespace berth::cli
