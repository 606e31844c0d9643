#include "host/forecast/when_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "host/core/base/violations.hpp"
#include "host/core/reasons/render_reason.hpp"
#include "host/report/policy_text.hpp"
#include "host/report/table.hpp"

namespace berth::report {
namespace {

// "42s", "17m", "14h29m", "4d9h": rounded down.
std::string short_time(TimeUs time) {
  const std::int64_t seconds = time / kSecond, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (seconds < 60) return fmt::format("{}s", std::max<std::int64_t>(1, seconds));
  if (minutes < 60) return fmt::format("{}m", minutes);
  const auto pair = [](std::int64_t whole, char unit, std::int64_t rest, char smaller) {
    return rest == 0 ? fmt::format("{}{}", whole, unit) : fmt::format("{}{}{}{}", whole, unit, rest, smaller);
  };
  return hours < 24 ? pair(hours, 'h', minutes % 60, 'm') : pair(days, 'd', hours % 24, 'h');
}

std::string in_time(TimeUs at, TimeUs now) {
  if (at == kNever) return "-";
  return at <= now ? "now" : short_time(at - now);
}

std::string share_text(std::int32_t ppm) { return fmt::format("{:.0f} %", static_cast<double>(ppm) / 1e4); }

std::string interval_text(const ForecastTimes& times, TimeUs now) {
  if (times.low_us == kNever) return "beyond";
  const std::string high = times.high_us == kNever ? "beyond" : in_time(times.high_us, now);
  return fmt::format("{} .. {}", in_time(times.low_us, now), high);
}

std::string interval_name(const LevelsByHorizon& levels) { return levels == LevelsByHorizon{} ? "90 %" : "INTERVAL"; }

std::string basis_text(const Forecast& f) {
  std::string text;
  if (f.futures > 0) {
    std::vector<TimeUs> errors;
    for (const JobForecast& job : f.jobs) {
      if (job.start.median_us != kNever && job.start.median_error_us != kNever) errors.push_back(job.start.median_error_us);
    }
    std::sort(errors.begin(), errors.end());
    text += fmt::format("{} by {}, seed {}; run times of {}, arrivals of {}", core::counted(f.futures, "future"),
                        f.by_counts ? "counts of GPUs" : "the live engine", f.seed, core::counted(f.past_jobs, "past job"),
                        core::counted(f.past_arrivals, "submission"));
    if (f.past_withdrawn > 0) text += fmt::format(", {}", core::counted(f.past_withdrawn, "withdrawal"));
    text += "\n";
    if (f.node_failures.mean_us > 0) {
      text += fmt::format("nodes fail: each once in {} ({}), and returns after {}\n", core::rough_duration(f.node_failures.mean_us),
                          core::counted(f.past_failures, "past failure"), core::rough_duration(f.node_failures.repair_us));
    }
    if (!errors.empty()) {
      text += fmt::format("standard error of a median start: {} for half of the jobs, {} at most\n",
                          core::rough_duration(errors[errors.size() / 2]), core::rough_duration(errors.back()));
    }
  } else {
    text += "no futures: only starts by limits\n";
  }
  for (const std::string& note : f.notes) text += "note: " + note + "\n";
  return text;
}

}  // namespace

std::string when_text(const core::NameSource& names, const Forecast& forecast, std::size_t most_rows) {
  std::vector<Row> rows;
  std::vector<const JobForecast*> rejected;
  for (const JobForecast& job : forecast.jobs) {
    if (job.rejected) {
      rejected.push_back(&job);
      continue;
    }
    if (most_rows > 0 && rows.size() == most_rows) continue;
    Row row{job.job,
            job.queue.empty() ? "-" : job.queue,
            fmt::to_string(job.gpus),
            fmt::to_string(job.position),
            fmt::format("{} ({})", job.jobs_ahead, core::counted(job.gpus_ahead, "GPU")),
            in_time(job.start_by_limits_us, forecast.now_us)};
    if (forecast.futures > 0) {
      row.push_back(job.start.median_us == kNever ? "beyond" : in_time(job.start.median_us, forecast.now_us));
      row.push_back(interval_text(job.start, forecast.now_us));
      row.push_back(interval_text(job.end, forecast.now_us));
    } else {
      row.push_back(in_time(job.end_by_limits_us, forecast.now_us));
    }
    rows.push_back(std::move(row));
  }
  const std::string now = core::instant_text(names, forecast.now_us);
  std::string text =
      fmt::format("{}, under {}; times from now{}\n", core::counted(static_cast<std::int64_t>(forecast.jobs.size()), "waiting job"),
                  policy_text(forecast.policy, forecast.params), now == "now" ? "" : ", " + now);
  if (!rows.empty()) {
    Row head{"JOB", "QUEUE", "GPUS", "POSITION", "AHEAD", "START BY LIMITS"};
    const std::string interval = interval_name(forecast.levels);
    if (forecast.futures > 0) {
      head.insert(head.end(), {"START", "START " + interval, "END " + interval});
    } else {
      head.emplace_back("END BY LIMITS");
    }
    text += "\n" + table(head, rows) + "\n";
  }
  const std::size_t dated = forecast.jobs.size() - rejected.size();
  if (rows.size() < dated) text += fmt::format("{} more jobs (--rows 0 lists all)\n", dated - rows.size());
  std::size_t shown = 0;
  for (const JobForecast* job : rejected) {
    if (most_rows > 0 && shown++ == most_rows) break;
    text += fmt::format("job {} never starts: {}\n", job->job, job->reason);
  }
  if (forecast.jobs.size() == 1 && rejected.empty() && !forecast.jobs.front().reason.empty())
    text += fmt::format("job {} waits: {}\n", forecast.jobs.front().job, forecast.jobs.front().reason);
  if (!rows.empty()) text += "start by limits: jobs end at their limits, and each one that waits has a reservation (conservative)\n";
  return text + basis_text(forecast);
}

std::string when_job_text(const core::NameSource& names, const Forecast& f, const JobForecast& job) {
  if (job.rejected) return fmt::format("job {}: never starts: {}\n", job.job, job.reason);
  const auto at = [&](TimeUs t) { return core::instant_text(names, t); };
  std::string text =
      fmt::format("job {}: position {}{}; ahead there: {}, {}\n", job.job, job.position, job.queue.empty() ? "" : " of queue " + job.queue,
                  core::counted(job.jobs_ahead, "job"), core::counted(job.gpus_ahead, "GPU"));
  if (!job.reason.empty()) text += fmt::format("  waits: {}\n", job.reason);
  if (job.start_by_limits_us == kNever) {
    text += "  no start by limits: jobs without a limit, and without an estimate, may never end\n";
  } else {
    text += fmt::format("  starts by limits: {}{}\n", at(job.start_by_limits_us),
                        job.end_by_limits_us == kNever ? "" : fmt::format(", ends {}", at(job.end_by_limits_us)));
  }
  if (f.futures > 0) {
    const auto line = [&](const char* what, const ForecastTimes& times) {
      if (times.median_us == kNever && times.low_us == kNever) return;
      text += fmt::format("  {}: {} (median), {}: {} to {}\n", what, times.median_us == kNever ? "beyond the horizon" : at(times.median_us),
                          interval_name(f.levels), at(times.low_us), times.high_us == kNever ? "beyond the horizon" : at(times.high_us));
    };
    line("starts", job.start);
    line("ends", job.end);
    if (job.never_ppm > 0)
      text += fmt::format("  in {} of the futures it does not start within {}\n", share_text(job.never_ppm),
                          core::rough_duration(f.horizon_us));
    if (job.withdrawn_ppm > 0) text += fmt::format("  in {} of the futures it is withdrawn before\n", share_text(job.withdrawn_ppm));
  }
  return text;
}

}  // namespace berth::report
