#include <fmt/format.h>

#include <algorithm>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/request.hpp"
#include "host/core/choice/plan_terms.hpp"
#include "host/core/policy_api/objective.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/io/json/json_writer.hpp"
#include "host/report/table.hpp"

namespace berth::cli {
namespace {

struct PoliciesArguments {
  std::string name;
  bool json = false;
  bool names = false;
};

std::string names_json(const std::vector<PolicyInfo>& infos) {
  io::JsonWriter out;
  out.array([&] {
    for (const PolicyInfo& info : infos) out.string(info.name);
  });
  return out.finish();
}

// Which jobs a policy may displace.
const char* victims_of(const PolicyInfo& info) {
  if (!info.preemptive) return "no";
  return core::find_policy(info.name).class_rule ? "smaller class" : "yes";
}

std::string table_of(const std::vector<PolicyInfo>& infos) {
  std::vector<report::Row> rows;
  for (const PolicyInfo& info : infos) {
    std::vector<std::string> params;
    for (const PolicyParam& param : info.params) params.push_back(fmt::format("{}={}", param.name, param.default_value));
    rows.push_back({info.name, info.rule, info.discipline, victims_of(info), fmt::format("{}", fmt::join(params, " "))});
  }
  return report::table({"policy", "order", "discipline", "preempts", "parameters"}, rows) +
         "\n'berth policies NAME' describes a policy: its source, and what its parameters mean.\n";
}

std::string page_of(const PolicyInfo& info) {
  std::string text = fmt::format("{}: {}\nsource: {}\ndiscipline: {}\npreempts: {}\n", info.name, info.rule, info.source, info.discipline,
                                 victims_of(info));
  for (const PolicyParam& param : info.params)
    text += fmt::format("  --param {}={}\n      {}\n", param.name, param.default_value, param.help);
  const auto is_objective = [](const PolicyParam& param) { return param.name == "objective"; };
  if (std::none_of(info.params.begin(), info.params.end(), is_objective)) return text;
  text += "objectives:\n";
  for (const core::ObjectiveInfo& one : core::objectives())
    text += fmt::format("  {}: {}\n      source: {}\n", one.name, one.rule, one.source);
  text += "terms:\n";
  for (const core::PlanTermInfo& one : core::plan_terms())
    text += fmt::format("  {}: {}\n      source: {}\n", one.name, one.rule, one.source);
  return text;
}

int run(const PoliciesArguments& options) {
  std::vector<PolicyInfo> infos = policies();
  if (!options.name.empty()) infos = {find_policy_info(options.name)};
  if (options.json) {
    print(options.names ? names_json(infos) : io::to_json(infos));
  } else if (options.names) {
    std::string text;
    for (const PolicyInfo& info : infos) text += info.name + "\n";
    print(text);
  } else {
    print(options.name.empty() ? table_of(infos) : page_of(infos.front()));
  }
  return kDone;
}

}  // namespace

void add_policies(Commands& commands) {
  auto options = std::make_shared<PoliciesArguments>();
  CLI::App& app =
      commands.add("policies", "List the policies: rule, source, parameters", "berth policies\n  berth policies srsf", options, &run);
  app.add_option("NAME", options->name, "Describe this policy: its source and its parameters");
  add_json_flag(app, options->json, "Print one JSON object, or with --names one list");
  app.add_flag("--names", options->names, "Print the names alone, one a line");
}

}  // namespace berth::cli
