#include "host/fit/fit.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "berth/error.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/fit/fit_steps.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/violations.hpp"
#include "host/fit/calibration.hpp"
#include "host/fit/history.hpp"
#include "host/fit/predictor_json.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::cli {
namespace {

struct FitArguments {
  std::string file, test, out;
  bool leave_out = false, json = false;
  FitStepsArguments steps;
};

struct Fitted {
  std::int64_t skipped = 0;
  std::vector<std::string> jobs;
  fit::Predictor predictor;
  fit::Calibration fitted, constant, known_end;
  fit::Calibration tested, tested_constant;  // no rows: no test was requested
  std::vector<fit::LeftOut> left_out;
};

Fitted fitted_to(const fit::History& history, const FitArguments& options) {
  const std::vector<fit::Observation> seen = fit::observations_of(history.rows);
  Fitted all;
  all.skipped = history.skipped;
  all.jobs = history.jobs;
  std::set<std::int32_t> jobs;
  for (const fit::HistoryRow& row : history.rows) jobs.insert(row.job);
  all.predictor = {fit::fit_model(seen), static_cast<std::int64_t>(seen.size()), static_cast<std::int64_t>(jobs.size())};
  all.fitted = fit::calibration_of(all.predictor.model, seen);
  const policy::ProgressModel constant = fit::fit_constant(seen);
  all.constant = fit::calibration_of(constant, seen);
  all.known_end = fit::calibration_of_known_end(seen);
  if (!options.test.empty()) {
    const std::vector<fit::Observation> others = fit::observations_of(fit::read_history(options.test).rows);
    all.tested = fit::calibration_of(all.predictor.model, others);
    all.tested_constant = fit::calibration_of(constant, others);
  }
  if (options.leave_out) all.left_out = fit::leave_each_out(history);
  return all;
}

constexpr const char* kFeatureNames[] = {"log(dataset size)", "initial loss", "epochs", "(1 - loss / initial loss)", "accuracy"};

std::string formula_of(const policy::ProgressModel& model) {
  std::string text = core::decimal_text(model.weights_micro.back(), 6);
  for (std::size_t i = 0; i < policy::kProgressFeatures; ++i) {
    const std::int64_t weight = model.weights_micro[i];
    if (weight != 0) text += fmt::format(" {} {} {}", weight < 0 ? '-' : '+', core::decimal_text(std::abs(weight), 6), kFeatureNames[i]);
  }
  return text;
}

double part(std::int64_t of, const fit::Calibration& all) { return static_cast<double>(of) / static_cast<double>(all.rows); }

std::string row_of(const char* name, const fit::Calibration& one) {
  return fmt::format("{:<32} {:>14.4f}  {:>7.1f} %  {:>7.1f} %\n", name, one.log_density / static_cast<double>(one.rows),
                     100 * part(one.in_50, one), 100 * part(one.in_90, one));
}

std::string text_of(const Fitted& all, const std::string& file) {
  std::string text = fmt::format("{}: {} of {}", io::input_name(file), core::counted(all.predictor.rows, "epoch"),
                                 core::counted(all.predictor.jobs, "job"));
  if (all.skipped > 0) text += fmt::format("; {} that began or ended a job not counted", core::counted(all.skipped, "row"));
  text += fmt::format("\nbeta = 1 + max(0, {})\nmodel={}\n\n", formula_of(all.predictor.model), policy::to_text(all.predictor.model));
  text += fmt::format("{:<32} {:>14}  {:>9}  {:>9}\n", "", "log-likelihood", "in 50 %", "in 90 %");
  text += row_of("fitted", all.fitted) + row_of("constant alone", all.constant) + row_of("the end is known", all.known_end);
  if (all.tested.rows > 0) text += row_of("tested", all.tested) + row_of("tested, constant alone", all.tested_constant);
  if (!all.left_out.empty()) {
    fit::Calibration fitted, constant;
    for (const fit::LeftOut& one : all.left_out) {
      fitted += one.fitted;
      constant += one.constant;
    }
    text += row_of("each job by the others", fitted) + row_of("the same, constant alone", constant);
  }
  return text;
}

void write_calibration(io::JsonWriter& out, const char* name, const fit::Calibration& one) {
  const auto micro = [](double value) { return static_cast<std::int64_t>(std::llround(value * 1e6)); };
  out.key(name);
  out.object([&] {
    out.number("log_likelihood", micro(one.log_density / static_cast<double>(one.rows)), 6);
    out.number("in_50", micro(part(one.in_50, one)), 6);
    out.number("in_90", micro(part(one.in_90, one)), 6);
  });
}

std::string json_of(const Fitted& all) {
  io::JsonWriter out;
  out.object([&] {
    out.number("rows", all.predictor.rows);
    out.number("jobs", all.predictor.jobs);
    out.number("skipped", all.skipped);
    out.text("model", policy::to_text(all.predictor.model));
    write_calibration(out, "fitted", all.fitted);
    write_calibration(out, "constant", all.constant);
    write_calibration(out, "known_end", all.known_end);
    if (all.tested.rows > 0) {
      write_calibration(out, "tested", all.tested);
      write_calibration(out, "tested_constant", all.tested_constant);
    }
    out.lines("left_out", all.left_out, [&](const fit::LeftOut& one) {
      out.object([&] {
        out.text("job", all.jobs[static_cast<std::size_t>(one.job)]);
        out.number("rows", one.fitted.rows);
        write_calibration(out, "fitted", one.fitted);
        write_calibration(out, "constant", one.constant);
        write_calibration(out, "known_end", one.known_end);
      });
    });
  });
  return out.finish();
}

int run(const FitArguments& options) {
  if (!options.steps.file.empty()) {
    if (!options.file.empty() || !options.test.empty() || options.leave_out)
      throw InvalidArgument("--profile: it takes no HISTORY, --test or --leave-out");
    FitStepsArguments steps = options.steps;
    steps.out = options.out;
    steps.json = options.json;
    if (steps.json && steps.out == "-") throw InvalidArgument("--json and --out - would mix two documents on standard output");
    return run_fit_steps(steps);
  }
  if (options.file.empty()) throw InvalidArgument("HISTORY is required, or --profile FILE");
  if (!options.steps.predict.empty() || !options.steps.max_error.empty())
    throw InvalidArgument("--predict and --max-error are for --profile");
  check_places({{"HISTORY", options.file}, {"--test", options.test}}, {{"--out", options.out}});
  if (options.json && options.out == "-") throw InvalidArgument("--json and --out - would mix two documents on standard output");
  const Fitted all = fitted_to(fit::read_history(options.file), options);
  if (!options.out.empty()) write_out(options.out, fit::to_json(all.predictor));
  print_message(options.out, options.json ? json_of(all) : text_of(all, options.file));
  return kDone;
}

}  // namespace

void add_fit(Commands& commands) {
  auto options = std::make_shared<FitArguments>();
  CLI::App& app = commands.add("fit", "Fit how fast a job runs, or how far it is, to measurements",
                               "berth fit --profile steps.csv --predict gpus=16,nodes=2,batch=64\n"
                               "  berth fit history.csv --out model.json\n"
                               "  berth plan --snapshot cluster.json --policy ones --param model=@model.json\n\n"
                               "Columns of --profile: step_s, gpus, nodes (or placement), and where known batch,\n"
                               "gpu_type, cores, co_runner\n"
                               "Columns of HISTORY: job, dataset_size, initial_loss, loss, accuracy,\n"
                               "samples_done, samples_total; a row for each epoch",
                               options, &run);
  app.add_option("HISTORY", options->file, "Read epochs of finished jobs (CSV, plain or .gz; columns below)");
  app.add_option("--profile", options->steps.file, "Fit step times measured in some placements (CSV; columns below)")->type_name("FILE");
  app.add_option("--predict", options->steps.predict, "With --profile, predict a placement; repeatable")
      ->allow_extra_args(false)
      ->type_name("gpus=N,nodes=N,batch=B...");
  app.add_option("--max-error", options->steps.max_error, "With --profile, refuse a fit with a larger error (20%)")->type_name("PART");

  add_out_option(app, options->out, "Write the model, or the profile of a job, to FILE as JSON");
  app.add_option("--test", options->test, "Also report how well the jobs of this history are predicted")->type_name("FILE");
  app.add_flag("--leave-out", options->leave_out, "Also report how well each job is predicted by the others");
  add_json_flag(app, options->json, "Print one JSON object: the model, likelihoods and intervals");
}

}  // namespace berth::cli
