#pragma once

#include <cstdint>

#include "berth/kernel/base/plan_terms.hpp"
#include "berth/kernel/base/wide.hpp"
#include "berth/kernel/price/columns.hpp"
#include "berth/units.hpp"

/// The value of a shape to a job: the values of a PriceView, in integers. docs/objectives.md has the formulas and sources.
namespace berth::kernel {

enum class Objective : std::int32_t { kCost, kFinishTimeFairness, kFlowTime, kGoodput, kSia, kSruf, kThroughput };

/// The exponent of the power mean that `goodput` maximises.
enum class Power : std::int32_t { kMinusOne, kMinusHalf, kHalf, kOne };

inline constexpr std::int64_t kSpeedUnit = 1'000'000;  // of a speed: that of the requested shape

struct ObjectiveTerms {
  Objective objective;
  Power power;
  TimeUs horizon;           // >= 1: time for which the choice is expected to hold
  TimeUs longest;           // `sruf`: maximum of all `run`
  std::int32_t sruf_shift;  // `sruf`: keeps every value of weight 1 within kMaxChoiceValue
  std::int32_t shift;       // of all values, for the same reason
};

struct JobTerms {
  std::int64_t weight_ppm;
  TimeUs slowest;  // `finish_time_fairness`: the longest `run` of the shapes that the cluster could hold
  TimeUs alone;    // total run time in the requested shape
  // For `sia`.
  std::int64_t least_speed = kSpeedUnit;  // minimum over the shapes that the cluster could hold and that have a speed; >= 1
  TimeUs age = 0;                         // since submit
  std::int32_t restarts = 0;
  // For the term `tardiness`; 0 where no job is late.
  TimeUs late_if_waiting = 0;  // when it waits for the horizon, then runs as requested
  TimeUs due = 0;              // from now on
  // For `flow_time`.
  std::int64_t rank_value = 0;           // of running at `rank_speed`: docs/objectives.md
  std::int64_t rank_speed = kSpeedUnit;  // >= 1
  TimeUs stands = 0;                     // expected time until the job's next change; 0: it waits
  TimeUs first_start = 0;                // time that a job which has not run loses by starting
  std::int32_t mean_run = 1;             // of a waiting job: its expected run time in a shape, over the shape's `run`
};

struct ShapeTerms {
  std::int32_t gpus;          // >= 1
  std::int64_t speed;         // kSpeedUnit: that of the requested shape; 0: it cannot run in this shape
  TimeUs run;                 // remaining time at this speed, >= 1
  TimeUs cost;                // time lost by taking it: 0 for the shape in which the job runs
  std::int64_t hourly_price;  // thousandths, of one GPU; >= 1
};

BERTH_HD constexpr std::int64_t integer_root(std::int64_t v) {
  if (v <= 0) return 0;
  std::int64_t low = 0, high = std::int64_t{1} << 32;  // low^2 <= v < high^2
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (Wide{middle} * middle <= v ? low : high) = middle;
  }
  return low;
}

/// What is above 0 stays above 0: a light job may run where no other job would.
BERTH_HD constexpr std::int64_t rounded_down(std::int64_t exact, std::int64_t rounded) { return exact > 0 && rounded < 1 ? 1 : rounded; }

/// The average speed over the horizon when a change costs some of it.
BERTH_HD constexpr std::int64_t speed_over(const ObjectiveTerms& terms, const ShapeTerms& shape) {
  if (shape.cost == 0) return shape.speed;  // most shapes have no cost of change, and the division is the slowest step
  return shape.cost >= terms.horizon ? 0 : mul_div(shape.speed, terms.horizon - shape.cost, terms.horizon);
}

/// speed * (all - lost) / all to one part in 2^16, at least 1; 0 where nothing is left. @param speed  0: 0
/// Divisions of 128 bits are slow; small parts need them.
BERTH_HD constexpr std::int64_t speed_after(std::int64_t speed, TimeUs lost, TimeUs all) {
  if (lost >= all || speed <= 0) return 0;
  const TimeUs left = all - lost;
  const bool exact = all >= TimeUs{1} << 43 || left < all >> 4;
  const std::int64_t average = exact ? mul_div(speed, left, all) : static_cast<std::int64_t>(Wide{speed} * ((left << 20) / all) >> 20);
  return average < 1 ? 1 : average;
}

/// `flow_time`: the average speed until the job's next change or end, when its start or a change costs some of it.
BERTH_HD constexpr std::int64_t average_speed(const JobTerms& job, const ShapeTerms& shape) {
  const TimeUs lost = saturating_add(shape.cost, job.first_start);
  if (lost == 0) return shape.speed;
  const TimeUs end = saturating_add(saturating_mul(shape.run, job.mean_run), lost);
  return speed_after(shape.speed, lost, job.stands > 0 && job.stands < end ? job.stands : end);
}

/// Pollux: x^p, where x is in kSpeedUnit plus 1/1000 so that waiting has a value. The result is the gain over waiting, in millionths.
BERTH_HD constexpr std::int64_t power_gain(Power power, std::int64_t speed) {
  constexpr std::int64_t kAdded = kSpeedUnit / 1000;
  switch (power) {
    case Power::kMinusOne:
      return kSpeedUnit * (kSpeedUnit / kAdded) - kSpeedUnit * kSpeedUnit / (speed + kAdded);
    case Power::kMinusHalf:
      return kSpeedUnit * kSpeedUnit / integer_root(kAdded * kSpeedUnit) -
             kSpeedUnit * kSpeedUnit / integer_root((speed + kAdded) * kSpeedUnit);
    case Power::kHalf:
      return integer_root((speed + kAdded) * kSpeedUnit) - integer_root(kAdded * kSpeedUnit);
    case Power::kOne:
      break;
  }
  return speed;
}

/// Sia (SOSP'23): lambda - min(round(G^p, 2), 3000) with lambda = 1.1 and p = -0.5, in millionths; halves are rounded to even.
/// G is the speed divided by the lowest speed of the job's shapes.
/// For another shape than the current one it is times max(age - restarts S, 0) / (age + S), or times 1 while age < S.
/// S is the cost of the change.
BERTH_HD constexpr std::int64_t sia_gain(const JobTerms& job, const ShapeTerms& shape) {
  constexpr std::int64_t kHundredth = kSpeedUnit / 100, kLambda = 110, kMost = 300'000;
  // 1 / G = least / most.
  Wide least = job.least_speed, most = shape.speed;
  if (shape.cost > 0 && job.age >= shape.cost) {
    const std::int64_t lost = saturating_mul(job.restarts, shape.cost);
    least *= saturating_add(job.age, shape.cost);
    most *= lost < job.age ? job.age - lost : 0;
  }
  // The greatest n with (n - 1/2)^2 <= 10^4 / G, as (2n - 1)^2 <= 4 10^4 / G; one less for an odd n with equality.
  const Wide quotient = most == 0 ? 4 * Wide{kMost} * kMost : 40'000 * least / most;
  if (quotient >= 4 * Wide{kMost} * kMost) return (kLambda - kMost) * kHundredth;
  const std::int64_t root = integer_root(static_cast<std::int64_t>(quotient));
  const std::int64_t nearest = (root + 1) / 2;
  const bool half = root % 2 == 1 && Wide{root} * root == quotient && 40'000 * least % most == 0;
  return (kLambda - nearest + (half ? nearest % 2 : 0)) * kHundredth;
}

/// The same shape at another speed. @param speed  >= 0
BERTH_HD constexpr ShapeTerms at_speed(const ShapeTerms& shape, std::int64_t speed) {
  ShapeTerms slower = shape;
  slower.speed = speed;
  if (speed > 0) {
    const std::int64_t run = mul_div(shape.run, shape.speed, speed);
    slower.run = run < kMaxTimeUs ? run : kMaxTimeUs;
  }
  return slower;
}

/// The value of a shape minus that of waiting, without the job's weight.
BERTH_HD constexpr std::int64_t plain_value(const ObjectiveTerms& terms, const JobTerms& job, const ShapeTerms& shape) {
  switch (terms.objective) {
    case Objective::kThroughput:
      return speed_over(terms, shape);
    case Objective::kGoodput:
      return power_gain(terms.power, speed_over(terms, shape));
    case Objective::kFlowTime: {
      const std::int64_t average = average_speed(job, shape);
      return rounded_down(average, mul_div(average, job.rank_value, job.rank_speed));
    }
    case Objective::kSia:
      return sia_gain(job, shape);
    case Objective::kSruf: {
      const TimeUs saved = terms.longest + 1 - shape.run;
      return rounded_down(saved, saturate((Wide{shape.gpus} * saved) >> terms.sruf_shift));
    }
    case Objective::kFinishTimeFairness:
      return mul_div(kSpeedUnit, saturating_add(terms.horizon, job.slowest - shape.run - shape.cost), job.alone > 1 ? job.alone : 1);
    case Objective::kCost:
      return mul_div(speed_over(terms, shape), 1'000'000, shape.hourly_price * shape.gpus);
  }
  return 0;
}

/// The value of a shape to its job, without the common shift. At most 0: no reason to run in this shape.
BERTH_HD constexpr std::int64_t unshifted_value(const ObjectiveTerms& terms, const JobTerms& job, const ShapeTerms& shape) {
  if (shape.speed <= 0) return 0;
  const std::int64_t plain = plain_value(terms, job, shape);
  const std::int64_t value = rounded_down(plain, mul_div(plain, job.weight_ppm, 1'000'000));
  if (job.late_if_waiting <= 0 || value <= 0) return value;
  const TimeUs avoided = lateness_avoided(terms.horizon, job.late_if_waiting, job.due, saturating_add(shape.cost, shape.run));
  return saturating_add(value, mul_div(value, avoided, terms.horizon));
}

/// In the unit of a PriceView, in which the greatest value fits.
BERTH_HD constexpr std::int64_t in_choice(const ObjectiveTerms& terms, std::int64_t unshifted) {
  const std::int64_t value = rounded_down(unshifted, unshifted >> terms.shift);
  return value < -kMaxPriceValue ? -kMaxPriceValue : value > kMaxPriceValue ? kMaxPriceValue : value;
}

BERTH_HD constexpr std::int64_t shape_value(const ObjectiveTerms& terms, const JobTerms& job, const ShapeTerms& shape) {
  return in_choice(terms, unshifted_value(terms, job, shape));
}

}  // namespace berth::kernel
