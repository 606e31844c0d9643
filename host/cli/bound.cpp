#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/load.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/base/request.hpp"
#include "host/core/choice/shape_program.hpp"
#include "host/core/policy_api/objective.hpp"
#include "host/io/formats/bound_json.hpp"
#include "host/io/formats/write_lp.hpp"
#include "host/report/explain.hpp"

namespace berth::cli {
namespace {

struct BoundArguments {
  StateInput input;
  RequestOptions request;
  std::string policy = "price";
  std::string objective, lp;
  bool json = false;
};

std::string bound_text(const Bound& bound) {
  std::string text = report::bound_line(bound);
  for (const auto& [type, price] : bound.prices) text += fmt::format("  price of one {}: {}\n", type, price);
  return text;
}

Request bound_request(const BoundArguments& options) {
  const PolicyInfo info = find_policy_info(options.policy);
  options.lp.empty() ? core::require_bound(info.name) : core::require_program(info.name);
  RequestOptions asked = options.request;
  if (!options.objective.empty()) {
    const auto is_objective = [](const PolicyParam& param) { return param.name == "objective"; };
    if (std::none_of(info.params.begin(), info.params.end(), is_objective)) {
      throw InvalidArgument(fmt::format("--objective: policy '{}' has one of its own", info.name));
    }
    asked.params.push_back("objective=" + options.objective);
  }
  return make_request(asked, info.name);
}

int run(const BoundArguments& options) {
  check_places(places_of(options.input), {{"--lp", options.lp}});
  if (options.json && options.lp == "-") throw InvalidArgument("--json and --lp - would mix two documents on standard output");
  const Request request = bound_request(options);
  const LoadedState loaded = load_state(options.input);
  // Files first: the reader of the output may close it early.
  if (!options.lp.empty()) {
    const core::ShapeProgram program = core::shape_program(loaded.state, request.policy, request.params);
    write_out(options.lp, [&](const io::WritePiece& write) { io::write_lp(program, write); });
  }
  Engine engine;
  const Plan plan = engine.decide(loaded.state, request);
  print_message(options.lp, options.json ? io::to_json(plan.bound) : bound_text(plan.bound));
  return kDone;
}

}  // namespace

void add_bound(Commands& commands) {
  auto options = std::make_shared<BoundArguments>();
  CLI::App& app = commands.add("bound", "Compute an upper bound on the objective value of any plan",
                               "berth bound --snapshot cluster.json --objective goodput\n"
                               "  berth bound --snapshot cluster.json --policy sia --lp sia.lp\n"
                               "  glpsol --lp sia.lp",
                               options, &run);
  add_state_options(app, options->input);
  std::vector<std::string> names;
  for (const core::ObjectiveInfo& one : core::objectives()) names.emplace_back(one.name);
  app.add_option("--policy", options->policy, "Compute the bound of this policy, which chooses shapes")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--objective", options->objective, "Maximise this objective ('berth policies price' lists them)")
      ->type_name("NAME")
      ->check(CLI::IsMember(names).description(""));
  app.add_option("--param", options->request.params, "Set a parameter of the policy, such as gap=0.001; repeatable")
      ->type_name("NAME=VALUE");
  app.add_option("--lp", options->lp, "Write the integer program to FILE in CPLEX LP format; - is standard output")->type_name("FILE");
  add_json_flag(app, options->json, "Print JSON instead of text");
}

}  // namespace berth::cli
