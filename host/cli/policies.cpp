#include <fmt/format.h>

#include <algorithm>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "host/cli/common_options.hpp"
#include "host/cli/console.hpp"
#include "host/cli/request.hpp"
#include "host/core/objective.hpp"
#include "host/core/plan_terms.hpp"
#include "host/core/policy.hpp"
#include "host/io/json_writer.hpp"

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

// Whom a policy may displace.
const char* victims_of(const PolicyInfo& info) {
  if (!info.preemptive) return "no";
  return core::find_policy(info.name).class_rule ? "smaller class" : "yes";
}

std::string table_of(const std::vector<PolicyInfo>& infos) {
  std::size_t name = 6, rule = 24;
  for (const PolicyInfo& info : infos) {
    name = std::max(name, info.name.size());
    rule = std::max(rule, info.rule.size());
  }
  std::string text = fmt::format("{:<{}}  {:<{}}  {:<10}  {:<13}  parameters\n", "policy", name, "order", rule, "discipline", "preempts");
  for (const PolicyInfo& info : infos) {
    std::vector<std::string> params;
    for (const PolicyParam& param : info.params) params.push_back(fmt::format("{}={}", param.name, param.default_value));
    text += fmt::format("{:<{}}  {:<{}}  {:<10}  {:<13}  {}\n", info.name, name, info.rule, rule, info.discipline, victims_of(info),
                        fmt::join(params, " "));
  }
  return text + "\n'berth policies NAME' tells where a rule comes from and what its parameters mean.\n";
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
      commands.add("policies", "The policies: rule, source, parameters", "berth policies\n  berth policies srsf", options, &run);
  app.add_option("NAME", options->name, "Only this one, with its source and the meaning of its parameters");
  add_json_flag(app, options->json, "One JSON object: policies; with --names one list of names");
  app.add_flag("--names", options->names, "Only the names, one a line, or with --json one list");
}

}  // namespace berth::cli
