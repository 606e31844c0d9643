#include "host/io/formats/read_parts.hpp"
#include "host/io/json/json_fields.hpp"

namespace berth::io {
namespace {

constexpr Field<RatePoint> kRatePoint[] = {
    {"gpu_type", [](JsonCursor& in, RatePoint& p) { p.gpu_type = in.string(); }},
    {"gpus", [](JsonCursor& in, RatePoint& p) { p.gpus = read_count(in); }, true},
    {"local_batch", [](JsonCursor& in, RatePoint& p) { p.local_batch = read_count(in); }},
    {"span", [](JsonCursor& in, RatePoint& p) { p.span = in.string(); }},
    {"rate", [](JsonCursor& in, RatePoint& p) { p.rate = read_micro(in); }, true},
};

constexpr Field<StepTime> kStepTime[] = {
    {"gpu_type", [](JsonCursor& in, StepTime& s) { s.gpu_type = in.string(); }},
    {"alpha_ns", [](JsonCursor& in, StepTime& s) { s.alpha_ns = read_bytes(in); }},
    {"beta_ns", [](JsonCursor& in, StepTime& s) { s.beta_ns = read_bytes(in); }},
};

constexpr Field<ClosedForm> kClosedForm[] = {
    {"step", [](JsonCursor& in, ClosedForm& c) { read_rows(in, c.step, kStepTime); }, true},
    {"io_ns", [](JsonCursor& in, ClosedForm& c) { c.io_ns = read_bytes(in); }},
    {"cpu_cores_saturation", [](JsonCursor& in, ClosedForm& c) { c.cpu_milli_saturation = read_milli(in); }},
    {"overlap", [](JsonCursor& in, ClosedForm& c) { c.overlap_ppm = in.decimal(6, 0, 1'000'000); }},
};

std::int64_t read_ratio(JsonCursor& in) { return in.decimal(6, 0, 1'000'000); }

void read_colocation(JsonCursor& in, Profile& p) {
  DistinctKeys keys;
  in.object([&](std::string_view key) {
    if (!keys.add(key)) in.fail(fmt::format("the field '{}' stands here twice", key));
    p.colocation.emplace_back(std::string(key), read_ratio(in));
  });
}

constexpr Field<Profile> kProfile[] = {
    {"kind", [](JsonCursor& in, Profile& p) { p.kind = read_enum<ProfileKind>(in); }},
    {"model", [](JsonCursor& in, Profile& p) { p.model = in.string(); }},
    {"unit", [](JsonCursor& in, Profile& p) { p.unit = in.string(); }},
    {"points", [](JsonCursor& in, Profile& p) { read_rows(in, p.points, kRatePoint); }},
    {"closed_form", [](JsonCursor& in, Profile& p) { read_object(in, p.closed_form, kClosedForm); }},
    {"gradient_bytes", [](JsonCursor& in, Profile& p) { p.gradient_bytes = read_bytes(in); }},
    {"stage_s", [](JsonCursor& in, Profile& p) { in.array([&] { p.stage_us.push_back(read_time(in)); }); }},
    {"gpu_utilisation", [](JsonCursor& in, Profile& p) { p.gpu_utilisation_ppm = read_ratio(in); }},
    {"gpu_memory_utilisation", [](JsonCursor& in, Profile& p) { p.gpu_memory_utilisation_ppm = read_ratio(in); }},
    {"colocation", read_colocation},
};

constexpr Field<ObservedRate> kObservedRate[] = {
    {"gpus", [](JsonCursor& in, ObservedRate& o) { o.gpus = read_count(in); }, true},
    {"rates", [](JsonCursor& in, ObservedRate& o) { in.array([&] { o.rates.push_back(read_micro(in)); }); }, true},
};

// Losses may be negative (log-likelihoods).
std::int64_t read_loss(JsonCursor& in) { return in.decimal(6, -kScoreCeiling, kScoreCeiling); }

constexpr Field<Progress> kProgress[] = {
    {"work_done", [](JsonCursor& in, Progress& p) { p.work_done = read_micro(in); }},
    {"work_total", [](JsonCursor& in, Progress& p) { p.work_total = read_micro(in); }},
    {"epochs_done", [](JsonCursor& in, Progress& p) { p.epochs_done_micro = read_micro(in); }},
    {"samples_done", [](JsonCursor& in, Progress& p) { p.samples_done = in.integer(0, kScoreCeiling); }},
    {"dataset_size", [](JsonCursor& in, Progress& p) { p.dataset_size = in.integer(0, kScoreCeiling); }},
    {"initial_loss", [](JsonCursor& in, Progress& p) { p.initial_loss_micro = read_loss(in); }},
    {"loss", [](JsonCursor& in, Progress& p) { p.loss_micro = read_loss(in); }},
    {"accuracy", [](JsonCursor& in, Progress& p) { p.accuracy_ppm = read_ratio(in); }},
    {"grad_sqr", [](JsonCursor& in, Progress& p) { p.grad_sqr_micro = read_micro(in); }},
    {"grad_var", [](JsonCursor& in, Progress& p) { p.grad_var_micro = read_micro(in); }},
    {"run_s", [](JsonCursor& in, Progress& p) { p.run_us = read_time(in); }},
    {"attained_gpu_s", [](JsonCursor& in, Progress& p) { p.attained_gpu_us = read_micro(in); }},
    {"observed", [](JsonCursor& in, Progress& p) { read_rows(in, p.observed, kObservedRate); }},
    {"restarts", [](JsonCursor& in, Progress& p) { p.restarts = read_count(in); }},
};

}  // namespace

void read_profile(JsonCursor& in, Profile& out) { read_object(in, out, kProfile); }
void read_progress(JsonCursor& in, Progress& out) { read_object(in, out, kProgress); }

}  // namespace berth::io
