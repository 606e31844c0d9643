#include "berth/plan.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/dump.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/base/load.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/base/request.hpp"
#include "host/cli/base/values.hpp"
#include "host/cli/plan/plan_text.hpp"
#include "host/core/base/split.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/io/files/file_error.hpp"

namespace berth::cli {
namespace {

struct PlanArguments {
  StateInput input;
  std::string policy;
  std::string compare;
  RequestOptions request;
  std::string state_in, state_out, out, dump_on_error;
  bool json = false;
  bool no_timing = false;
  TextOptions text;
};

Plan decide(const PlanArguments& options, const LoadedState& loaded, PolicyState& policy_state, const Request& request) {
  Engine engine;
  const CancelOnSignal cancel(engine);
  const PolicyState before = options.dump_on_error.empty() ? PolicyState() : policy_state;
  Plan plan;
  try {
    engine.decide(loaded.state, policy_state, request, plan);
  } catch (const InternalError& error) {
    if (options.dump_on_error.empty()) throw InternalError(fmt::format("{} (--dump-on-error DIR writes what repeats it)", error.what()));
    dump_decision(options.dump_on_error, loaded.state, before, request, error.what());
    throw InternalError(fmt::format("{} (what repeats it is in {})", error.what(), options.dump_on_error));
  }
  plan.timing.load_s = loaded.load_s;
  return plan;
}

// Exit code: kNo when every job is rejected.
int code_of(const Plan& plan) {
  return !plan.decisions.empty() && plan.totals.rejects == static_cast<std::int64_t>(plan.decisions.size()) ? kNo : kDone;
}

// Notes of the engine are not part of the output.
void note(const Plan& plan) {
  if (!plan.backend_note.empty()) print_error(fmt::format("note: answered by {}: {}", plan.backend, plan.backend_note));
  if (!plan.device.empty()) print_error(fmt::format("note: answered by {} on device {}", plan.backend, plan.device));
  if (plan.stopped_by == "cancel")
    print_error(
        fmt::format("note: interrupted after {}: this is the best so far", core::counted(plan.iterations, core::work_unit(plan.policy))));
}

int run_one(const PlanArguments& options) {
  const Request request = make_requests(options.request, {options.policy}).front();
  check_places(places_of(options.input, {{"--state-in", options.state_in}}), {{"--out", options.out}});
  // The state file may replace the previous one.
  check_places(places_of(options.input), {{"--out", options.out}, {"--state-out", options.state_out}});
  if (options.json && options.state_out == "-")
    throw InvalidArgument("--json and --state-out - would mix two documents on standard output");
  PolicyState policy_state;
  if (!options.state_in.empty()) {
    const std::string name = io::input_name(options.state_in);
    policy_state = io::parse_policy_state(io::read_file(options.state_in), name);
    if (policy_state.policy != request.policy) {
      throw InputError(name, "/policy", 0, fmt::format("kept by policy '{}', not by '{}'", policy_state.policy, request.policy));
    }
  }
  const LoadedState loaded = load_state(options.input);
  const Plan plan = decide(options, loaded, policy_state, request);
  note(plan);
  // Files first: the reader of the output may close it early.
  if (!options.state_out.empty()) write_out(options.state_out, io::to_json(policy_state));
  const io::Promises* const promises = io::promises_of(policy_state);
  const bool prints_json = options.json || options.out == "-";
  const std::string json =
      prints_json || !options.out.empty() ? io::plan_json(plan, loaded.state, !options.no_timing, promises) : std::string();
  if (!options.out.empty() && options.out != "-") write_out(options.out, json);
  if (prints_json) {
    print(json);
  } else {
    print_message(options.state_out, plan_text(loaded.state, plan, options.text, promises));
  }
  return code_of(plan);
}

std::vector<Plan> decide_each(const PlanArguments& options, const LoadedState& loaded, const std::vector<Request>& requests) {
  std::vector<Plan> plans;
  for (const Request& request : requests) {
    PolicyState kept;
    plans.push_back(decide(options, loaded, kept, request));
    if (remembered_signal() != 0) end_by_signal(remembered_signal());  // half an answer compares with nothing
  }
  for (const Plan& plan : plans) note(plan);
  return plans;
}

int run_comparison(const PlanArguments& options) {
  std::vector<std::string_view> names = core::split(options.compare, ',');
  const bool contest = !options.policy.empty();
  if (contest) {
    names.insert(names.begin(), options.policy);
  } else if (names.size() != 2) {
    throw InvalidArgument(
        fmt::format("--compare: '{}': expected two policies, NAME[@PARAM=VALUE...],NAME[@PARAM=VALUE...]; any number with --policy",
                    echoed(options.compare)));
  }
  const std::vector<Request> requests = make_requests(options.request, names);
  const LoadedState loaded = load_state(options.input);
  const std::vector<Plan> plans = decide_each(options, loaded, requests);
  if (contest) {
    print(options.json ? contest_json(loaded.state, plans) : contest_text(loaded.state, plans));
  } else {
    print(options.json ? comparison_json(loaded.state, plans[0], plans[1])
                       : comparison_text(loaded.state, plans[0], plans[1], options.text));
  }
  return kDone;
}

int run(const PlanArguments& options) {
  if (!options.compare.empty()) return run_comparison(options);
  if (options.policy.empty()) throw InvalidArgument("--policy is required ('berth policies' lists them)");
  return run_one(options);
}

void add_request_options(CLI::App& app, RequestOptions& request) {
  app.add_option("--param", request.params, "Set a parameter of the policy (see 'berth policies NAME'); repeatable")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  app.add_option("--backend", request.backend, "Compute on this backend; the plan is the same on each")
      ->check(CLI::IsMember({"auto", "reference", "cpu", "cuda"}))
      ->type_name("NAME")
      ->capture_default_str();
  app.add_option("--device", request.device, "Use this GPU: its index in 'berth devices', or its UUID")->type_name("GPU");
  app.add_option("--threads", request.threads, "Use N CPU threads; 0 uses all. The plan stays the same")
      ->check(whole_number<int>(0, 1024))
      ->type_name("N")
      ->capture_default_str();
  add_seed_option(app, request.seed, "Seed the random numbers");
  app.add_option("--max-iterations", request.max_iterations, "Stop after N jobs, evaluations, generations or rounds of the policy")
      ->check(whole_number<std::int64_t>(1))
      ->type_name("N");
  app.add_option("--budget", request.budget, "Stop deciding after TIME, such as 100ms; the plan says how far it came")->type_name("TIME");
}

}  // namespace

void add_plan(Commands& commands) {
  auto options = std::make_shared<PlanArguments>();
  CLI::App& app = commands.add("plan", "Decide which job gets which GPUs, which jobs wait, and why",
                               "berth plan --snapshot cluster.json --policy srsf --out plan.json\n"
                               "  berth plan --snapshot cluster.json --compare fifo,srsf\n"
                               "  berth plan --snapshot cluster.json --compare fifo,fifo@discipline=easy\n"
                               "  berth plan --snapshot cluster.json --policy price --compare optimus,gavel-las\n\n"
                               "Ctrl-C while it decides: the best plan so far is the answer (stopped_by is\n"
                               "\"cancel\"), and then the signal ends the command (130 in a shell). A second one,\n"
                               "or one at another moment, ends it at once; files are complete or not there.",
                               options, &run);
  add_state_options(app, options->input);
  app.add_option("--policy", options->policy, "Decide by this policy ('berth policies' lists them)")->type_name("NAME");
  CLI::Option* compare = app.add_option("--compare", options->compare, "Compare two policies, or any number with that of --policy")
                             ->type_name("NAME[@PARAM=VALUE...],NAME[...]");
  add_request_options(app, options->request);
  app.add_option("--state-in", options->state_in, "Read the state that the policy kept from its last decision")
      ->type_name("FILE")
      ->excludes(compare);
  app.add_option("--state-out", options->state_out, "Write the state that the policy keeps for its next decision")
      ->type_name("FILE")
      ->excludes(compare);
  add_out_option(app, options->out, "Write the plan to FILE as JSON")->excludes(compare);
  add_json_flag(app, options->json, "Print the plan as JSON instead of a table");
  app.add_flag("--no-timing", options->no_timing, "Leave timing out of the JSON: equal plans are equal bytes");
  app.add_option("--dump-on-error", options->dump_on_error, "Write what repeats an internal error to DIR")->type_name("DIR");
  add_text_options(app, options->text);
}

}  // namespace berth::cli
