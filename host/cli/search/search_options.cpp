#include "host/cli/search/search_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "berth/error.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/request.hpp"
#include "host/cli/base/values.hpp"
#include "host/io/files/gzip_output.hpp"
#include "host/sim/iterations/ada_srsf.hpp"

namespace berth::cli {
namespace {

std::string flag_text(bool flag) { return flag ? "true" : "false"; }

}  // namespace

void add_search_options(CLI::App& app, SearchOptions& options) {
  add_job_options(app, options.jobs);
  app.add_option("--policy", options.policy, "Decide by this policy: NAME, or NAME@PARAM=VALUE@PARAM=VALUE")->type_name("NAME")->required();
  add_param_options(app, options.params, options.placement);
  add_source_options(app, options.run);
  add_world_options(app, options.world);
  add_iteration_options(app, options.iterations);
  add_decision_options(app, options.run);
  app.add_option("--out", options.out, "Keep the runs in FILE (SQLite); the same command then goes on there")->type_name("FILE");
  app.add_option("--threads", options.threads, "Run on N threads; 0 uses all")
      ->check(whole_number<int>())
      ->type_name("N")
      ->capture_default_str();
}

void check_policy(const SearchOptions& options) {
  RequestOptions request;
  request.params = options.params;
  if (!options.placement.empty()) request.params.push_back("packing=" + options.placement);
  (void)make_requests(request, {options.policy}, {sim::ada_srsf_info()});
}

RunTexts texts_of(const SearchOptions& options) {
  RunTexts texts;
  texts["policy"] = options.policy;
  texts["placement"] = options.placement;
  for (const std::string& param : options.params) {
    const auto [name, value] = parse_key_value(param);
    if (!texts.emplace(std::string(kParamKey) + name, value).second)
      throw InvalidArgument(fmt::format("--param: '{}' is given twice", echoed(name)));
  }
  texts["trace"] = fmt::format("{}", fmt::join(options.jobs.traces, "\n"));
  texts["trace_format"] = options.jobs.format;
  texts["virtual_clusters"] = options.jobs.virtual_clusters;
  texts["workload"] = options.jobs.workload;
  if (options.jobs.jobs > 0) texts["jobs"] = fmt::format("{}", options.jobs.jobs);
  texts["load"] = options.jobs.load;
  texts["estimates"] = options.run.estimates;
  texts["progress"] = options.run.progress;
  texts["overheads"] = options.world.overheads;
  texts["events"] = options.world.events;
  texts["failures"] = fmt::format("{}", fmt::join(options.world.failures, "\n"));
  texts["round"] = options.run.round;
  texts["at_events"] = flag_text(options.run.events_too);
  texts["elastic"] = flag_text(options.run.elastic);
  texts["fidelity"] = options.iterations.fidelity;
  texts["gpu_jobs"] = fmt::format("{}", options.iterations.gpu_jobs);
  texts["network"] = fmt::format("{}", fmt::join(options.iterations.network, "\n"));
  texts["warm_up"] = options.warm_up;
  return texts;
}

void check_search_places(const SearchOptions& options, const std::vector<Place>& more_inputs) {
  if (io::names_gzip(options.out)) throw InvalidArgument("--out: results are a database, which cannot be packed; leave out '.gz'");
  if (options.out == "-") throw InvalidArgument("--out: results are written into a file of their own, not to standard output");
  std::vector<Place> inputs = more_inputs;
  for (const std::string& file : options.jobs.traces) inputs.push_back({"--trace", file});
  for (Place& file : options.world.inputs()) inputs.push_back(std::move(file));
  check_places(inputs, {{"--out", options.out}});
}

int threads_of(const SearchOptions& options) {
  return options.threads > 0 ? options.threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

std::string as_option(const std::string& problem) {
  const std::size_t colon = problem.find(": ");
  const RunKey* const key = colon == problem.npos ? nullptr : run_key(std::string_view(problem).substr(0, colon));
  if (key == nullptr) return problem;
  std::string option(key->name);
  std::replace(option.begin(), option.end(), '_', '-');
  return "--" + option + problem.substr(colon);
}

}  // namespace berth::cli
