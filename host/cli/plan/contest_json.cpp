#include "host/cli/plan/contest_json.hpp"

#include <string_view>

#include "host/io/formats/schemas.hpp"

namespace berth::cli {
namespace {

using io::field;
using io::kOptional;
using io::kRequired;
using report::Contender;

struct Contest {
  std::span<const Contender> plans;
  const Bound& bound;
};

struct ContestPlan {
  const Contender& value;
  const Plan& plan;
  bool has_value;
};

template <auto Member>
constexpr auto kOfPlan = [](const ContestPlan& one) -> decltype(auto) { return (one.plan.*Member); };
template <auto Member>
constexpr auto kOfTotals = [](const ContestPlan& one) { return one.plan.totals.*Member; };

struct ObjectiveValue : io::AnyInteger {
  static bool absent(std::int64_t /*value*/, const ContestPlan& one) { return !one.has_value; }
};

template <class Row>
using ContestField = io::Field<io::NotRead, Row>;

constexpr ContestField<ContestPlan> kContestPlanFields[] = {
    field<io::Name, kOfPlan<&Plan::policy>>("policy", kRequired),
    field<io::Map<io::Text>, kOfPlan<&Plan::params>>("params", kRequired),
    field<io::Whole, kOfTotals<&Totals::gpus_used>>("gpus_used", kRequired),
    field<io::Whole, kOfTotals<&Totals::starts>>("starts", kRequired),
    field<io::Whole, kOfTotals<&Totals::keeps>>("keeps", kRequired),
    field<io::Whole, kOfTotals<&Totals::moves>>("moves", kRequired),
    field<io::Whole, kOfTotals<&Totals::replaces>>("replaces", kRequired),
    field<io::Whole, kOfTotals<&Totals::reserves>>("reserves", kRequired),
    field<io::Whole, kOfTotals<&Totals::preempts>>("preempts", kRequired),
    field<io::Whole, kOfTotals<&Totals::waits>>("waits", kRequired),
    field<io::Whole, kOfTotals<&Totals::rejects>>("rejects", kRequired),
    field<ObjectiveValue, &Contender::value>("value", kOptional, "omitted where there is no objective"),
};

struct ContestPlans {
  static void write(io::JsonWriter& w, std::span<const Contender> plans, const Contest& contest) {
    w.array([&] {
      for (const Contender& one : plans) {
        io::Object<kContestPlanFields>::write(w, ContestPlan{one, *one.plan, !contest.bound.objective.empty()});
      }
    });
  }
  static void describe(io::JsonWriter& w) {
    io::List<io::Object<kContestPlanFields>>::describe(w);
    w.number("minItems", 2);
  }
};

struct ContestObjective : io::Name {
  static bool absent(std::string_view objective) { return objective.empty(); }
};

struct ContestBound : io::AnyInteger {
  static bool absent(std::int64_t /*bound*/, const Contest& contest) { return contest.bound.objective.empty(); }
};

constexpr std::string_view kContestFormat = "berth.contest.v1";

constexpr ContestField<Contest> kContestFields[] = {
    field<io::Constant<kContestFormat>>("schema", kRequired),
    field<ContestObjective, [](const Contest& contest) -> std::string_view { return contest.bound.objective; }>("objective", kOptional),
    field<ContestBound, [](const Contest& contest) { return contest.bound.bound; }>("bound", kOptional),
    field<ContestPlans, &Contest::plans>("plans", kRequired),
};

}  // namespace

std::string contest_json(std::span<const Contender> contenders) {
  io::JsonWriter w;
  io::Object<kContestFields>::write(w, Contest{contenders, contenders.front().plan->bound});
  return w.finish();
}

std::string contest_schema() {
  return io::schema_of<kContestFields>(kContestFormat, "Plans of several policies and their objective values, side by side",
                                       [](io::JsonWriter& w) {
                                         w.key("dependentRequired");
                                         w.raw(R"({"objective":["bound"],"bound":["objective"]})");
                                       });
}

}  // namespace berth::cli
