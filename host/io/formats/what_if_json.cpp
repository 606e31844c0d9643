#include <string>
#include <string_view>
#include <vector>

#include "berth/io.hpp"
#include "host/io/fields/job_fields.hpp"
#include "host/io/fields/kinds.hpp"
#include "host/io/formats/queue_rows.hpp"
#include "host/io/formats/schemas.hpp"

namespace berth::io {
namespace {

struct WhatIfDocument {
  const Plan& base;
  const std::vector<EditOutcome>& outcomes;
  const RoomAnswer* room = nullptr;
};

template <class Row>
using WhatIfField = Field<NotRead, Row>;

struct EffectName {
  static void write(JsonWriter& w, EditEffect effect) { w.string(to_string(effect)); }
  static void describe(JsonWriter& w) {
    w.key("enum");
    w.array([&] {
      for (int i = 0; i < kEditEffects; ++i) w.string(to_string(static_cast<EditEffect>(i)));
    });
  }
};

struct SomeText : Text {
  static bool absent(std::string_view text) { return text.empty(); }
};

struct SomePlaces : List<AllocationEntryObject> {
  static bool absent(const std::vector<AllocationEntry>& entries) { return entries.empty(); }
};

constexpr WhatIfField<JobAnswer> kAnswerFields[] = {
    field<Enum<Action>, &JobAnswer::action>("action", kRequired),
    field<Millionths, &JobAnswer::gpus_ppm>("gpus", kRequired, "that the job uses from now on"),
    field<KnownInstant, &JobAnswer::start_us>("start_s", kOptional, "omitted where it is not known, or the job runs"),
    field<KnownInstant, &JobAnswer::finish_us>("finish_s", kOptional, "predicted"),
    field<SomeText, [](const JobAnswer& a) -> std::string_view { return a.allocation.shape; }>("shape"),
    field<SomePlaces, [](const JobAnswer& a) -> const std::vector<AllocationEntry>& { return a.allocation.entries; }>("where"),
    field<SomeText, [](const JobAnswer& a) -> std::string_view { return a.reason; }>("reason"),
    field<SomeText, [](const JobAnswer& a) -> std::string_view { return a.would_start_if; }>("would_start_if"),
};

struct SomeAnswer : Object<kAnswerFields> {
  static void write(JsonWriter& w, const std::optional<JobAnswer>& answer) { Object::write(w, *answer); }
  static bool absent(const std::optional<JobAnswer>& answer) { return !answer; }
};

constexpr WhatIfField<JobChange> kChangeFields[] = {
    field<Id, &JobChange::job>("job", kRequired),
    field<EffectName, &JobChange::effect>("effect", kRequired),
    field<SomeAnswer, &JobChange::before>("before", kOptional, "omitted where the edit adds the job"),
    field<SomeAnswer, &JobChange::after>("after", kOptional, "omitted where the edit removes the job"),
};

constexpr WhatIfField<QueueUse> kUseFields[] = {
    field<Id, &QueueUse::queue>("queue", kRequired),
    field<Millionths, &QueueUse::before_ppm>("before", kRequired, "GPUs, with those of queues below it"),
    field<Millionths, &QueueUse::after_ppm>("after", kRequired),
};

constexpr WhatIfField<Totals> kWhatIfTotals[] = {
    field<Whole, &Totals::gpus>("gpus", kRequired),         field<Whole, &Totals::gpus_used>("gpus_used", kRequired),
    field<Whole, &Totals::starts>("starts", kRequired),     field<Whole, &Totals::keeps>("keeps", kRequired),
    field<Whole, &Totals::moves>("moves", kRequired),       field<Whole, &Totals::preempts>("preempts", kRequired),
    field<Whole, &Totals::waits>("waits", kRequired),       field<Whole, &Totals::rejects>("rejects", kRequired),
    field<Whole, &Totals::replaces>("replaces", kRequired), field<Whole, &Totals::reserves>("reserves", kRequired),
};

constexpr WhatIfField<EditOutcome> kOutcomeFields[] = {
    field<Text, &EditOutcome::name>("name", kRequired),
    field<Name, &EditOutcome::policy>("policy", kRequired, "that decides after the edit"),
    field<Map<Text>, &EditOutcome::params>("params", kRequired),
    field<Object<kWhatIfTotals>, &EditOutcome::after>("totals", kRequired),
    field<Lines<Object<kChangeFields>>, &EditOutcome::jobs>("jobs", kRequired, "whose answer differs, and those that the edit describes"),
    field<Lines<Object<kUseFields>>, &EditOutcome::queues>("queues", kRequired, "whose use differs"),
};

constexpr WhatIfField<RoomMove> kMoveFields[] = {
    field<Id, &RoomMove::job>("job", kRequired),
    field<Object<kAllocationFields>, &RoomMove::from>("from", kRequired),
    field<Object<kAllocationFields>, &RoomMove::to>("to", kRequired),
    field<Seconds, &RoomMove::cost_us>("cost_s", kRequired, "run time that the move costs the job"),
    field<Millionths, &RoomMove::cost_gpu_us>("cost_gpu_s", kRequired, "the same times its GPUs"),
};

constexpr WhatIfField<RoomAnswer> kRoomFields[] = {
    field<Id, &RoomAnswer::job>("job", kRequired),
    field<Boolean, &RoomAnswer::found>("found", kRequired),
    field<Object<kAnswerFields>, &RoomAnswer::base>("base", kRequired, "what the plan does with the job"),
    field<SomePlaces, [](const RoomAnswer& a) -> const std::vector<AllocationEntry>& { return a.allocation.entries; }>(
        "where", kOptional, "the job would start"),
    field<Lines<Object<kMoveFields>>, &RoomAnswer::moves>("moves", kRequired),
    field<Millionths, &RoomAnswer::cost_gpu_us>("cost_gpu_s", kRequired, "of all moves"),
    field<Whole, &RoomAnswer::domains>("places", kRequired, "that were asked for the cheapest set of jobs"),
    field<Whole, &RoomAnswer::sets>("sets", kRequired, "of jobs that were tried"),
    field<SomeText, &RoomAnswer::note>("note", kOptional, "why no set was found"),
};

struct SomeRoom : Object<kRoomFields> {
  static void write(JsonWriter& w, const RoomAnswer* room) { Object::write(w, *room); }
  static bool absent(const RoomAnswer* room) { return room == nullptr; }
};

constexpr std::string_view kWhatIfFormat = "berth.whatif.v1";

constexpr WhatIfField<WhatIfDocument> kWhatIfFields[] = {
    field<Constant<kWhatIfFormat>>("schema", kRequired),
    field<Unsigned, [](const WhatIfDocument& d) { return d.base.revision; }>("revision", kRequired),
    field<Seconds, [](const WhatIfDocument& d) { return d.base.now_us; }>("now_s", kRequired),
    field<Name, [](const WhatIfDocument& d) -> std::string_view { return d.base.policy; }>("policy", kRequired,
                                                                                           "of the plan without edits"),
    field<Map<Text>, [](const WhatIfDocument& d) -> decltype(auto) { return (d.base.params); }>("params", kRequired),
    field<Object<kWhatIfTotals>, [](const WhatIfDocument& d) -> const Totals& { return d.base.totals; }>("totals", kRequired,
                                                                                                         "of the plan without edits"),
    field<Lines<Object<kOutcomeFields>>, [](const WhatIfDocument& d) -> const std::vector<EditOutcome>& { return d.outcomes; }>("edits",
                                                                                                                                kRequired),
    field<SomeRoom, [](const WhatIfDocument& d) { return d.room; }>("room", kOptional, "which jobs would move so that a job starts"),
};

}  // namespace

std::string to_json(const Plan& base, const std::vector<EditOutcome>& outcomes) {
  JsonWriter w;
  Object<kWhatIfFields>::write(w, WhatIfDocument{base, outcomes});
  return w.finish();
}

std::string to_json(const Plan& base, const RoomAnswer& room) {
  JsonWriter w;
  const std::vector<EditOutcome> none;
  Object<kWhatIfFields>::write(w, WhatIfDocument{base, none, &room});
  return w.finish();
}

std::string what_if_schema() { return schema_of<kWhatIfFields>(kWhatIfFormat, "What edits of a state would change in its next plan"); }

}  // namespace berth::io
