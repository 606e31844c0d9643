#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "host/cli/fit/fit_steps.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/json/json_writer.hpp"
#include "host/report/table.hpp"

namespace berth::cli {
namespace {

struct TermText {
  const char *key, *text;
};
constexpr std::array<TermText, fit::kStepTerms> kTerms{{{"sample_s", "a sample"},
                                                        {"fixed_s", "a step"},
                                                        {"input_core_s", "input of a sample, on one core"},
                                                        {"node_volume_s", "gradients inside a node"},
                                                        {"node_worker_s", "a worker more inside a node"},
                                                        {"fabric_volume_s", "gradients between nodes"},
                                                        {"fabric_worker_s", "a worker more between nodes"}}};

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string placement_text(std::int32_t gpus, std::int32_t nodes) {
  return fmt::format("{} on {}", core::counted(gpus, "GPU"), core::counted(nodes, "node"));
}

std::string type_text(const FittedSteps& one, double max_error) {
  const fit::StepFit& fit = one.fit;
  std::string text = fmt::format("{}{} of {}, {}\n\n", fit.model.gpu_type.empty() ? "" : fit.model.gpu_type + ": ",
                                 core::counted(static_cast<std::int64_t>(fit.measurements), "measurement"),
                                 core::counted(static_cast<std::int64_t>(fit.settings), "setting"),
                                 core::counted(static_cast<std::int64_t>(fit.coefficients), "coefficient"));
  std::vector<report::Row> terms;
  for (std::size_t i = 0; i < fit::kStepTerms; ++i) {
    if (fit.model.seconds.at(i) > 0) terms.push_back({kTerms.at(i).text, fmt::format("{:.6g}", fit.model.seconds.at(i))});
  }
  if (fit.model.saturation > 0) terms.push_back({"input is no faster beyond", fmt::format("{:g} cores", fit.model.saturation)});
  for (const auto& [name, slowdown] : fit.model.slowdown)
    terms.push_back({fmt::format("compute with {}", name), fmt::format("{:.3f} times", 1 + slowdown)});
  text += report::table({"COST", "SECONDS"}, terms) + "\n";
  text += fmt::format("R2 {:.4f}; error {} in the mean, {} at most: {}, {:.6g} s instead of {:.6g} s\n", fit.r2, percent(fit.mean_error),
                      percent(fit.largest_error), fit::setting_text(fit.worst), fit::step_seconds(fit.model, fit.worst), fit.worst.step_s);
  std::vector<report::Row> rows;
  for (const fit::LeftOutPlacement& left : one.left_out) {
    rows.push_back({placement_text(left.gpus, left.nodes), fmt::format("{}", left.measurements),
                    left.mean_error ? percent(*left.mean_error) : "-", left.largest_error ? percent(*left.largest_error) : "-",
                    !left.mean_error ? "not determined by the others"
                    : left.beyond    ? "beyond the others"
                                     : ""});
  }
  text += "\nEach placement by all others:\n" + report::table({"PLACEMENT", "MEASUREMENTS", "MEAN ERROR", "LARGEST ERROR", ""}, rows);
  for (const std::string& note : fit.notes) text += "note: " + note + "\n";
  if (one.refused)
    text += fmt::format("refused: the largest error is above {} (--max-error): measure this setting again, or use what was measured\n",
                        percent(max_error));
  return text;
}

void write_fit_type(io::JsonWriter& w, const FittedSteps& one) {
  const auto nano = [](double value) { return static_cast<std::int64_t>(std::llround(value * 1e9)); };
  const auto micro = [](double value) { return static_cast<std::int64_t>(std::llround(value * 1e6)); };
  const fit::StepFit& fit = one.fit;
  w.object([&] {
    w.text("gpu_type", fit.model.gpu_type);
    w.number("measurements", static_cast<std::int64_t>(fit.measurements));
    w.number("settings", static_cast<std::int64_t>(fit.settings));
    w.number("coefficients", static_cast<std::int64_t>(fit.coefficients));
    for (std::size_t i = 0; i < fit::kStepTerms; ++i) w.number(kTerms.at(i).key, nano(fit.model.seconds.at(i)), 9);
    w.number("saturation_cores", micro(fit.model.saturation), 6);
    w.key("slowdown");
    w.object([&] {
      for (const auto& [name, slowdown] : fit.model.slowdown) w.number(name, micro(slowdown), 6);
    });
    w.number("r2", micro(fit.r2), 6);
    w.number("mean_error", micro(fit.mean_error), 6);
    w.number("largest_error", micro(fit.largest_error), 6);
    w.key("refused"), w.raw(one.refused ? "true" : "false");
    w.lines("left_out", one.left_out, [&](const fit::LeftOutPlacement& left) {
      w.object([&] {
        w.number("gpus", left.gpus);
        w.number("nodes", left.nodes);
        w.number("measurements", static_cast<std::int64_t>(left.measurements));
        if (left.mean_error) w.number("mean_error", micro(*left.mean_error), 6);
        if (left.largest_error) w.number("largest_error", micro(*left.largest_error), 6);
        w.flag_unless("beyond", left.beyond, false);
      });
    });
    w.strings("notes", fit.notes);
  });
}

}  // namespace

std::string fit_steps_text(const FitStepsAnswer& answer) {
  std::string text = io::input_name(answer.file) + "\n";
  for (const FittedSteps& one : answer.types) text += "\n" + type_text(one, answer.max_error);
  if (answer.predicted.empty()) return text;
  std::vector<report::Row> rows;
  for (const PredictedStep& one : answer.predicted)
    rows.push_back({one.asked, fmt::format("{:.6g}", one.step_s), fmt::format("{:.6g}", one.rate),
                    one.beyond.empty() ? "" : "extrapolated: " + one.beyond});
  return text + "\n" +
         report::table({"PREDICTED", "STEP OR LATENCY S", answer.types.front().fit.model.has_batch ? "SAMPLES/S" : "STEPS/S", ""}, rows);
}

std::string fit_steps_json(const FitStepsAnswer& answer) {
  io::JsonWriter w;
  w.object([&] {
    w.number("max_error", static_cast<std::int64_t>(std::llround(answer.max_error * 1e6)), 6);
    w.lines("types", answer.types, [&](const FittedSteps& one) { write_fit_type(w, one); });
    w.lines("predicted", answer.predicted, [&](const PredictedStep& one) {
      w.object([&] {
        w.text("asked", one.asked);
        w.number("step_s", static_cast<std::int64_t>(std::llround(one.step_s * 1e9)), 9);
        constexpr double kMostShown = 9e18;
        w.number("rate", std::llround(std::min(kMostShown, one.rate * 1e6)), 6);
        if (!one.beyond.empty()) w.text("beyond", one.beyond);
      });
    });
  });
  return w.finish();
}

}  // namespace berth::cli
