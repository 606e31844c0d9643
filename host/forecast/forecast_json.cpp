#include "host/forecast/forecast_json.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "host/io/fields/kinds.hpp"
#include "host/io/formats/queue_rows.hpp"
#include "host/io/formats/schemas.hpp"

namespace berth::io {
namespace {

template <class Row>
using ForecastField = Field<NotRead, Row>;

constexpr std::string_view kForecastFormat = "berth.when.v1";

struct ForecastText : Text {
  static bool absent(std::string_view text) { return text.empty(); }
};

constexpr ForecastField<ForecastTimes> kForecastTimesFields[] = {
    field<KnownInstant, &ForecastTimes::median_us>("median_s", kOptional, "of the futures; omitted where most do not reach it"),
    field<KnownInstant, &ForecastTimes::low_us>("low_s", kOptional, "begin of the interval"),
    field<KnownInstant, &ForecastTimes::high_us>("high_s", kOptional, "its end; omitted beyond the horizon"),
    field<KnownInstant, &ForecastTimes::median_error_us>("median_error_s", kOptional, "standard error of the median"),
};

struct SomeForecastTimes : Object<kForecastTimesFields> {
  static bool absent(const ForecastTimes& times) { return times == ForecastTimes{}; }
};

constexpr ForecastField<JobForecast> kJobForecastFields[] = {
    field<Id, &JobForecast::job>("job", kRequired),
    field<ForecastText, &JobForecast::queue>("queue", kOptional, "or virtual cluster"),
    field<Count, &JobForecast::gpus>("gpus", kRequired, "that it asks for"),
    field<Boolean, &JobForecast::rejected>("rejected", kRequired, "it can never start, and has no figures"),
    field<ForecastText, &JobForecast::reason>("reason", kOptional, "why it waits or is rejected"),
    field<Count, &JobForecast::position>("position", kRequired, "in its queue, from 1; 0: rejected"),
    field<Count, &JobForecast::jobs_ahead>("jobs_ahead", kRequired, "in its queue"),
    field<Whole, &JobForecast::gpus_ahead>("gpus_ahead", kRequired, "that these jobs ask for"),
    field<Count, &JobForecast::all_ahead>("all_ahead", kRequired, "jobs ahead in all queues"),
    field<KnownInstant, &JobForecast::start_by_limits_us>("start_by_limits_s", kOptional, "of the conservative schedule"),
    field<KnownInstant, &JobForecast::end_by_limits_us>("end_by_limits_s", kOptional, "of the conservative schedule"),
    field<SomeForecastTimes, &JobForecast::start>("start", kOptional, "over the futures in which it is not withdrawn"),
    field<SomeForecastTimes, &JobForecast::end>("end", kOptional, "likewise"),
    field<Ratio, &JobForecast::never_ppm>("never", kRequired, "share of the futures without a start before the horizon"),
    field<Ratio, &JobForecast::withdrawn_ppm>("withdrawn", kRequired, "share of the futures in which it is withdrawn"),
};

constexpr ForecastField<ForecastLevels> kLevelFields[] = {
    field<AnyMicro, &ForecastLevels::low_ppm>("low", kRequired, "below 0: before the first future"),
    field<AnyMicro, &ForecastLevels::high_ppm>("high", kRequired, "above 1: after the last one"),
};

struct LevelList {
  static void write(JsonWriter& w, const LevelsByHorizon& levels) {
    w.array([&] {
      for (const ForecastLevels& one : levels) Object<kLevelFields>::write(w, one);
    });
  }
  static void describe(JsonWriter& w) { List<Object<kLevelFields>>::describe(w); }
};

constexpr ForecastField<Forecast> kForecastFields[] = {
    field<Constant<kForecastFormat>>("schema", kRequired),
    field<Unsigned, &Forecast::revision>("revision", kRequired),
    field<Seconds, &Forecast::now_us>("now_s", kRequired),
    field<Name, &Forecast::policy>("policy", kRequired),
    field<Map<Text>, &Forecast::params>("params", kRequired),
    field<Unsigned, &Forecast::seed>("seed", kRequired),
    field<Count, &Forecast::futures>("futures", kRequired, "that were simulated; 0: there is only the point"),
    field<LevelList, &Forecast::levels>("levels", kRequired,
                                        "quantiles that bound the intervals, for medians up to 1, 6, 24 hours ahead, and more"),
    field<Seconds, &Forecast::horizon_us>("horizon_s", kRequired, "no future goes on for longer"),
    field<Whole, &Forecast::past_jobs>("past_jobs", kRequired, "that run times were drawn from"),
    field<Whole, &Forecast::past_arrivals>("past_arrivals", kRequired, "that arrivals were drawn from"),
    field<Whole, &Forecast::past_withdrawn>("past_withdrawn", kRequired, "jobs withdrawn while they waited"),
    field<Whole, &Forecast::past_failures>("past_failures", kRequired, "of nodes, that ended jobs of the history"),
    field<Seconds, &Forecast::node_failures, &NodeFailures::mean_us>("node_failure_s", kRequired,
                                                                     "mean time until a node fails in the futures; 0: none does"),
    field<Seconds, &Forecast::node_failures, &NodeFailures::repair_us>("repair_s", kRequired, "mean time until it returns"),
    field<Boolean, &Forecast::by_counts>("by_counts", kRequired, "futures were simulated by counts of GPUs, else by the engine"),
    field<List<Text>, &Forecast::notes>("notes", kRequired),
    field<Lines<Object<kJobForecastFields>>, &Forecast::jobs>("jobs", kRequired, "by the order of the policy, rejected jobs last"),
};

}  // namespace

std::string to_json(const Forecast& forecast) {
  JsonWriter w;
  Object<kForecastFields>::write(w, forecast);
  return w.finish();
}

std::string forecast_schema() { return schema_of<kForecastFields>(kForecastFormat, "When waiting jobs are predicted to start and end"); }

}  // namespace berth::io
