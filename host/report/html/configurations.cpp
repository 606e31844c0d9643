#include "host/report/html/configurations.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <set>

#include "berth/error.hpp"
#include "host/core/base/violations.hpp"

namespace berth::report {
namespace {

constexpr std::array kTextSettings{"trace", "cluster", "estimates", "overheads", "events", "progress", "fidelity"};
constexpr std::array kNumberSettings{"gpus",         "jobs",         "node_failure_us", "gpu_failure_us", "repair_us",
                                     "crash_gpu_us", "kill_gpu_us",  "round_us",        "elastic",        "at_events",
                                     "gpu_jobs",     "network_a_us", "network_b_fs",    "network_eta_fs"};
constexpr std::string_view kParam = "param ";

// "policy" first, then parameters, then the rest.
NamedSettings settings_of(const ReportRun& run) {
  NamedSettings all{{"policy", run.stored.text("policy")}};
  simdjson::dom::parser parser;
  simdjson::dom::object params;
  const std::string& text = run.stored.text("params");
  if (parser.parse(text).get(params) == simdjson::SUCCESS) {
    for (const auto [key, value] : params) {
      std::string_view given;
      if (value.get(given) == simdjson::SUCCESS) all.emplace_back(std::string(kParam) + std::string(key), std::string(given));
    }
  } else {
    all.emplace_back("params", text);
  }
  for (const char* column : kTextSettings) all.emplace_back(column, run.stored.text(column));
  for (const char* column : kNumberSettings) all.emplace_back(column, fmt::format("{}", run.stored.number(column)));
  for (const auto& [name, value] : run.details) {
    if (name != "command") all.emplace_back(name, value);
  }
  return all;
}

bool is_of_policy(const std::string& name) { return name == "policy" || name == "params" || name.rfind(kParam, 0) == 0; }

const std::string* find_setting(const NamedSettings& settings, const std::string& name) {
  for (const auto& [key, value] : settings) {
    if (key == name) return &value;
  }
  return nullptr;
}

// NamedSettings of some configurations have several values, or are not of all.
std::vector<std::string> varying_names(const std::vector<NamedSettings>& all) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const NamedSettings& settings : all) {
    for (const auto& [name, value] : settings) {
      if (!seen.insert(name).second) continue;
      for (const NamedSettings& other : all) {
        const std::string* there = find_setting(other, name);
        if (there != nullptr && *there == value) continue;
        names.push_back(name);
        break;
      }
    }
  }
  return names;
}

std::string plain_name(const std::string& name) { return name.rfind(kParam, 0) == 0 ? name.substr(kParam.size()) : name; }

// Wall-clock figures differ between repetitions.
bool same_results(const results::StoredRun& a, const results::StoredRun& b) {
  constexpr std::array<std::string_view, 6> kOther{"id", "load_us", "wall_us", "decision_p50_us", "decision_p99_us", "written"};
  for (const auto& [name, value] : a.numbers) {
    if (std::find(kOther.begin(), kOther.end(), name) != kOther.end()) continue;
    const auto there = b.numbers.find(name);
    if (there == b.numbers.end() || there->second != value) return false;
  }
  return true;
}

// NamedSettings of a sweep that the run's other columns lack, such as the load.
void add_sweep_inputs(const std::string& text, std::map<std::string, std::string>& details) {
  constexpr std::array<std::string_view, 3> kElsewhere{"seed", "policy", "params"};
  simdjson::dom::parser parser;
  simdjson::dom::object inputs;
  if (text.empty() || parser.parse(text).get(inputs) != simdjson::SUCCESS) return;
  for (const auto [key, value] : inputs) {
    if (std::find(kElsewhere.begin(), kElsewhere.end(), key) != kElsewhere.end()) continue;
    std::string_view given;
    details.emplace(std::string(key), value.get(given) == simdjson::SUCCESS ? std::string(given) : simdjson::minify(value));
  }
}

// "8xH100+8xA100" of "16x8xH100+5x8xA100", so that curves over the number of GPUs do not mix kinds of nodes. Empty for a file.
std::string node_kinds(std::string_view cluster) {
  std::set<std::string> kinds;
  while (!cluster.empty()) {
    const std::size_t end = std::min(cluster.find('+'), cluster.size());
    const std::string_view part = cluster.substr(0, end);
    const std::size_t x = part.find('x');
    const bool counts = x != part.npos && x > 0 && part.substr(0, x).find_first_not_of("0123456789") == part.npos;
    if (!counts || x + 1 == part.size() || part[x + 1] < '0' || part[x + 1] > '9') return "";
    kinds.emplace(part.substr(x + 1));
    cluster.remove_prefix(std::min(end + 1, cluster.size()));
  }
  std::string text;
  for (const std::string& kind : kinds) text += (text.empty() ? "" : "+") + kind;
  return text;
}

class RunGrouping {
 public:
  explicit RunGrouping(ReportInput& input) : input_(input) {}

  void run() {
    for (std::size_t r = 0; r < input_.runs.size(); ++r) add(r);
    if (repeated_ > 0)
      input_.notes.push_back(
          fmt::format("{} left out: later runs of the same configuration and seed have the same results", core::counted(repeated_, "run")));
    if (differing_ > 0)
      input_.notes.push_back(
          fmt::format("{} left out, although the results differ: later runs have the same configuration and seed, as far as the file tells",
                      core::counted(differing_, "run")));
    if (interrupted_ > 0)
      input_.notes.push_back(fmt::format("{} not compared: interrupted before the end", core::counted(interrupted_, "run")));
    for (std::size_t c = 0; c < input_.configurations.size(); ++c) {
      std::vector<std::size_t>& runs = input_.configurations[c].runs;
      std::sort(runs.begin(), runs.end(), [&](std::size_t a, std::size_t b) { return seed(a) < seed(b); });
    }
    label();
  }

 private:
  std::int64_t seed(std::size_t run) const { return input_.runs[run].stored.number("seed"); }

  void add(std::size_t r) {
    const ReportRun& run = input_.runs[r];
    if (run.stored.number("interrupted") != 0) {
      ++interrupted_;
      return;
    }
    const NamedSettings settings = settings_of(run);
    NamedSettings world;
    for (const auto& one : settings) {
      if (!is_of_policy(one.first)) world.push_back(one);
    }
    const auto [known, fresh] = known_.emplace(settings, input_.configurations.size());
    if (fresh) {
      const auto [scenario, new_scenario] = scenarios_.emplace(world, input_.scenarios.size());
      if (new_scenario) input_.scenarios.emplace_back();
      input_.configurations.push_back({run.stored.text("policy"), "", {}, {}, scenario->second});
      input_.scenarios[scenario->second].configurations.push_back(known->second);
      settings_.push_back(settings);
      worlds_.push_back(world);
    }
    std::vector<std::size_t>& runs = input_.configurations[known->second].runs;
    const auto same = std::find_if(runs.begin(), runs.end(), [&](std::size_t other) { return seed(other) == seed(r); });
    if (same == runs.end()) {
      runs.push_back(r);
    } else {
      ++(same_results(input_.runs[*same].stored, run.stored) ? repeated_ : differing_);
      *same = r;
    }
  }

  void label() {
    const std::vector<std::string> names = varying_names(settings_);
    for (const std::string& name : names) {
      if (name != "policy") input_.varying.push_back(name);
    }
    for (std::size_t c = 0; c < settings_.size(); ++c) {
      Configuration& one = input_.configurations[c];
      one.label = one.policy;
      for (const std::string& name : input_.varying) {
        const std::string* value = find_setting(settings_[c], name);
        if (value == nullptr) continue;
        one.varying.emplace_back(name, *value);
        // A policy that was asked for as NAME@PARAM=VALUE names it itself.
        const std::string part = fmt::format("{}={}", plain_name(name), *value);
        if (is_of_policy(name) && one.policy.find("@" + part) == std::string::npos) one.label += " " + part;
      }
    }
    for (std::size_t s = 0; s < input_.scenarios.size(); ++s) {
      ComparedScenario& scenario = input_.scenarios[s];
      const NamedSettings& settings = settings_[scenario.configurations.front()];
      const std::string& cluster = *find_setting(settings, "cluster");
      scenario.label =
          fmt::format("{} on {}", *find_setting(settings, "trace"), cluster.empty() ? *find_setting(settings, "gpus") + " GPUs" : cluster);
      for (const std::string& name : input_.varying) {
        const std::string* value = find_setting(settings, name);
        if (value == nullptr || is_of_policy(name) || name == "trace" || name == "cluster") continue;
        scenario.label += fmt::format(", {} {}", name, value->empty() ? "none" : *value);
      }
      scenario.baseline = scenario.configurations.front();
    }
  }

  ReportInput& input_;
  std::map<NamedSettings, std::size_t> known_, scenarios_;
  std::vector<NamedSettings> settings_, worlds_;  // [configurations]
  std::int64_t repeated_ = 0, differing_ = 0, interrupted_ = 0;
};

void choose_baseline(ReportInput& input, const std::string& baseline) {
  bool found = false;
  for (ComparedScenario& scenario : input.scenarios) {
    for (const std::size_t c : scenario.configurations) {
      const Configuration& one = input.configurations[c];
      if (one.policy != baseline && one.label != baseline) continue;
      scenario.baseline = c;
      found = true;
      break;
    }
  }
  if (!found) throw InvalidArgument(fmt::format("--baseline: no run has the policy '{}'", baseline));
}

}  // namespace

ReportInput read_report_input(results::ResultsReader& store, const std::string& path, const std::vector<std::int64_t>& only,
                              const std::string& baseline) {
  ReportInput input;
  input.path = path;
  for (results::StoredRun& run : store.runs()) {
    if (!only.empty() && std::find(only.begin(), only.end(), run.id) == only.end()) continue;
    const std::int64_t id = run.id;
    input.runs.push_back({std::move(run), store.details(id), store.inputs(id), store.job_count(id)});
    add_sweep_inputs(store.sweep_inputs(id), input.runs.back().details);
    const std::string kinds = node_kinds(input.runs.back().stored.text("cluster"));
    if (!kinds.empty()) input.runs.back().details.emplace("node_kinds", kinds);
  }
  for (const std::int64_t id : only) {
    if (std::none_of(input.runs.begin(), input.runs.end(), [&](const ReportRun& run) { return run.stored.id == id; }))
      throw InvalidArgument(fmt::format("--run: '{}' has no run {}", path, id));
  }
  if (input.runs.empty()) throw InvalidArgument(fmt::format("'{}' has no runs: add some by berth simulate --out", path));
  RunGrouping(input).run();
  if (!baseline.empty()) choose_baseline(input, baseline);
  return input;
}

}  // namespace berth::report
