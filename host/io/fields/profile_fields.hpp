#pragma once

#include "berth/job.hpp"
#include "berth/profile.hpp"
#include "host/io/fields/kinds.hpp"

/// Tables of the parts of a profile and of a job's progress, in the order in which they are written.
namespace berth::io {

inline constexpr Field<RatePoint> kRatePointFields[] = {
    field<Text, &RatePoint::gpu_type>("gpu_type"),        field<Count, &RatePoint::gpus>("gpus", kRequired),
    field<Count, &RatePoint::local_batch>("local_batch"), field<Text, &RatePoint::span>("span"),
    field<Micro, &RatePoint::rate>("rate", kRequired),
};

inline constexpr Field<StepTime> kStepTimeFields[] = {
    field<Text, &StepTime::gpu_type>("gpu_type"),
    field<Bytes, &StepTime::alpha_ns>("alpha_ns"),
    field<Bytes, &StepTime::beta_ns>("beta_ns"),
};

inline constexpr Field<ClosedForm> kClosedFormFields[] = {
    field<List<Object<kStepTimeFields>>, &ClosedForm::step>("step", kRequired),
    field<Bytes, &ClosedForm::io_ns>("io_ns"),
    field<Milli, &ClosedForm::cpu_milli_saturation>("cpu_cores_saturation"),
    field<Ratio, &ClosedForm::overlap_ppm>("overlap"),
};

inline constexpr Field<Profile> kProfileFields[] = {
    field<Enum<ProfileKind>, &Profile::kind>("kind"),
    field<Text, &Profile::model>("model"),
    field<Text, &Profile::unit>("unit"),
    field<List<Object<kRatePointFields>>, &Profile::points>("points"),
    field<Object<kClosedFormFields>, &Profile::closed_form>("closed_form"),
    field<Bytes, &Profile::gradient_bytes>("gradient_bytes"),
    field<List<Seconds>, &Profile::stage_us>("stage_s"),
    field<Ratio, &Profile::gpu_utilisation_ppm>("gpu_utilisation"),
    field<Ratio, &Profile::gpu_memory_utilisation_ppm>("gpu_memory_utilisation"),
    field<Map<Ratio>, &Profile::colocation>("colocation"),
};

struct ObservedRates : List<Micro> {
  static void describe(JsonWriter& w) { List::describe(w), w.number("maxItems", 5); }
};

inline constexpr Field<ObservedRate> kObservedRateFields[] = {
    field<DescribedAs<Count, Integer<1, kMaxCount>>, &ObservedRate::gpus>("gpus", kRequired),
    field<ObservedRates, &ObservedRate::rates>("rates", kRequired),
};

/// It may be negative (log-likelihoods).
using LossValue = Number<6, -kScoreCeiling, kScoreCeiling>;

inline constexpr Field<Progress> kProgressFields[] = {
    field<Micro, &Progress::work_done>("work_done"),
    field<Micro, &Progress::work_total>("work_total"),
    field<Micro, &Progress::epochs_done_micro>("epochs_done"),
    field<Samples, &Progress::samples_done>("samples_done"),
    field<Samples, &Progress::dataset_size>("dataset_size"),
    field<LossValue, &Progress::initial_loss_micro>("initial_loss"),
    field<LossValue, &Progress::loss_micro>("loss"),
    field<Ratio, &Progress::accuracy_ppm>("accuracy"),
    field<Micro, &Progress::grad_sqr_micro>("grad_sqr"),
    field<Micro, &Progress::grad_var_micro>("grad_var"),
    field<Seconds, &Progress::run_us>("run_s"),
    field<Micro, &Progress::attained_gpu_us>("attained_gpu_s"),
    field<List<Object<kObservedRateFields>>, &Progress::observed>("observed"),
    field<Count, &Progress::restarts>("restarts"),
};

}  // namespace berth::io
