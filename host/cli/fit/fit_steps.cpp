#include "host/cli/fit/fit_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include "berth/error.hpp"
#include "berth/units.hpp"
#include "host/cli/base/command.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/base/values.hpp"
#include "host/core/base/split.hpp"
#include "host/core/base/suggest.hpp"
#include "host/fit/step_file.hpp"
#include "host/fit/step_profile.hpp"
#include "host/io/fields/profile_fields.hpp"

namespace berth::cli {
namespace {

/// "20%", "0.2".
double part_of(const std::string& text) {
  constexpr std::int64_t kMost = 10'000'000;
  const bool percent = !text.empty() && text.back() == '%';
  const auto value = parse_positive(percent ? std::string_view(text).substr(0, text.size() - 1) : text, percent ? 4 : 6, kMost);
  if (!value) throw InvalidArgument(fmt::format("--max-error: '{}': expected a part such as 20% or 0.2", echoed(text)));
  return static_cast<double>(*value) / 1e6;
}

std::int32_t count_of(std::string_view asked, std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kMaxGpusPerJob)
    throw InvalidArgument(fmt::format("--predict '{}': '{}': expected a whole number from 1", echoed(asked), echoed(text)));
  return value;
}

double amount_of(std::string_view asked, std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000;
  const auto value = parse_positive(text, 6, kMost);
  if (!value) throw InvalidArgument(fmt::format("--predict '{}': '{}': expected a number above 0", echoed(asked), echoed(text)));
  return static_cast<double>(*value) / 1e6;
}

/// "gpus=16,nodes=2,batch=64,cores=4,co_runner=NAME,gpu_type=T4".
fit::StepSetting setting_of(const std::string& asked) {
  constexpr std::array<std::string_view, 6> kNames{"gpus", "nodes", "batch", "cores", "co_runner", "gpu_type"};
  fit::StepSetting setting;
  std::vector<std::string_view> given;
  for (const std::string_view part : core::split(asked, ',')) {
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals), value = equals == part.npos ? std::string_view() : part.substr(equals + 1);
    if (value.empty() || std::find(kNames.begin(), kNames.end(), name) == kNames.end())
      throw InvalidArgument(fmt::format("--predict '{}': expected {} with =VALUE and commas between{}", echoed(asked),
                                        fmt::join(kNames, ", "), core::did_you_mean(name, kNames)));
    if (std::find(given.begin(), given.end(), name) != given.end())
      throw InvalidArgument(fmt::format("--predict '{}': {} stands there twice", echoed(asked), name));
    given.push_back(name);
    if (name == "gpus") setting.gpus = count_of(asked, value);
    if (name == "nodes") setting.nodes = count_of(asked, value);
    if (name == "batch") setting.batch = amount_of(asked, value);
    if (name == "cores") setting.cores = amount_of(asked, value);
    if (name == "co_runner") setting.co_runner = value;
    if (name == "gpu_type") setting.gpu_type = value;
  }
  if (setting.nodes > setting.gpus)
    throw InvalidArgument(fmt::format("--predict '{}': {} GPUs are on {} nodes at most", echoed(asked), setting.gpus, setting.gpus));
  return setting;
}

PredictedStep predict(const FitStepsAnswer& answer, const std::string& asked) {
  PredictedStep row;
  row.asked = asked;
  row.setting = setting_of(asked);
  const FittedSteps* found = nullptr;
  std::vector<std::string_view> types;
  for (const FittedSteps& one : answer.types) {
    types.push_back(one.fit.model.gpu_type);
    if (one.fit.model.gpu_type == row.setting.gpu_type) found = &one;
  }
  if (found == nullptr && answer.types.size() == 1 && row.setting.gpu_type.empty()) found = answer.types.data();
  if (found == nullptr)
    throw InvalidArgument(fmt::format("--predict '{}': gpu_type is one of {}{}", echoed(asked), fmt::join(types, ", "),
                                      core::did_you_mean(row.setting.gpu_type, types)));
  const fit::StepModel& model = found->fit.model;
  if (model.has_batch && row.setting.batch <= 0)
    throw InvalidArgument(fmt::format("--predict '{}': batch is required, as batches were measured", echoed(asked)));
  row.step_s = fit::step_seconds(model, row.setting);
  row.rate = fit::step_rate(model, row.setting);
  row.beyond = fit::beyond_range(model, row.setting);
  return row;
}

}  // namespace

int run_fit_steps(const FitStepsArguments& options) {
  check_places({{"--profile", options.file}}, {{"--out", options.out}});
  FitStepsAnswer answer;
  answer.file = options.file;
  if (!options.max_error.empty()) answer.max_error = part_of(options.max_error);
  std::map<std::string, std::vector<fit::StepMeasurement>> by_type;
  for (fit::StepMeasurement& one : fit::read_steps(options.file)) by_type[one.gpu_type].push_back(std::move(one));
  std::vector<fit::StepModel> models;
  bool refused = false;
  for (const auto& [type, measured] : by_type) {
    FittedSteps& one = answer.types.emplace_back();
    try {
      one.fit = fit::fit_steps(measured, answer.max_error);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format("--profile: {}{}", type.empty() ? "" : echoed(type) + ": ", error.what()));
    }
    one.left_out = fit::leave_placements_out(measured);
    one.refused = one.fit.largest_error > answer.max_error;
    refused = refused || one.refused;
    models.push_back(one.fit.model);
  }
  for (const std::string& asked : options.predict) answer.predicted.push_back(predict(answer, asked));
  if (!options.out.empty() && !refused) {
    const Profile profile = fit::profile_of(models);
    if (profile.points.empty())
      throw InvalidArgument("--out: no whole number lies within the measured batches, and a profile has whole ones: give other samples");
    io::JsonWriter w;
    io::Object<io::kProfileFields>::write(w, profile);
    write_out(options.out, w.finish());
  }
  print_message(refused ? "" : options.out, options.json ? fit_steps_json(answer) : fit_steps_text(answer));
  return refused ? kNo : kDone;
}

}  // namespace berth::cli
