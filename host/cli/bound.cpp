#include <fmt/format.h>

#include <string>

#include "berth/engine.hpp"
#include "host/cli/common_options.hpp"
#include "host/cli/console.hpp"
#include "host/cli/load.hpp"
#include "host/cli/places.hpp"
#include "host/cli/request.hpp"
#include "host/core/objective.hpp"
#include "host/io/json_writer.hpp"
#include "host/report/explain.hpp"

namespace berth::cli {
namespace {

struct BoundArguments {
  StateInput input;
  RequestOptions request;
  std::string objective = "goodput";
  bool json = false;
};

std::string bound_json(const Bound& bound) {
  io::JsonWriter w;
  w.object([&] {
    w.text("schema", "berth.bound.v1");
    w.text("objective", bound.objective);
    w.number("bound", bound.bound);
    w.number("value", bound.value);
    w.key("prices");
    w.object([&] {
      for (const auto& [type, price] : bound.prices) w.number(type, price);
    });
  });
  return w.finish();
}

std::string bound_text(const Bound& bound) {
  std::string text = report::bound_line(bound);
  for (const auto& [type, price] : bound.prices) text += fmt::format("  price of one {}: {}\n", type, price);
  return text;
}

int run(const BoundArguments& options) {
  check_places(places_of(options.input, {}), {});
  RequestOptions asked = options.request;
  asked.params.push_back("objective=" + options.objective);
  const Request request = make_request(asked, "price");
  const LoadedState loaded = load_state(options.input);
  Engine engine;
  const Plan plan = engine.decide(loaded.state, request);
  print(options.json ? bound_json(plan.bound) + "\n" : bound_text(plan.bound));
  return kDone;
}

}  // namespace

void add_bound(Commands& commands) {
  auto options = std::make_shared<BoundArguments>();
  CLI::App& app = commands.add("bound", "The most that any plan could be worth", "berth bound --snapshot cluster.json --objective goodput",
                               options, &run);
  add_state_options(app, options->input);
  std::vector<std::string> names;
  for (const core::ObjectiveInfo& one : core::objectives()) names.emplace_back(one.name);
  app.add_option("--objective", options->objective, "What a plan is worth")->check(CLI::IsMember(names))->capture_default_str();
  app.add_option("--param", options->request.params, "A parameter of policy 'price', such as gap=0.001")->type_name("NAME=VALUE");
  add_json_flag(app, options->json, "JSON instead of text");
}

}  // namespace berth::cli
