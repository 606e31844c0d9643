#include "host/core/placement/tried_options.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

bool has_several_shapes(const kernel::ProblemView& p, std::int32_t job) {
  const std::int32_t first = p.option_begin[job], last = p.option_end[job];
  return last - first > 1 && std::any_of(p.options + first + 1, p.options + last,
                                         [&](const kernel::OptionRow& o) { return o.shape != p.options[first].shape; });
}

}  // namespace

// The rule is that of docs/policies-reference.md, "The shape of a job".
void TriedOptions::requested(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job, std::span<const std::uint8_t> impossible) {
  const std::vector<Shape>& shapes = s.jobs[to_index(job)].job->shapes;
  const std::int32_t first = p.option_begin[job], last = p.option_end[job];
  const auto type_of = [&](std::int32_t o) { return to_index(p.demands[p.options[o].demand].gpu_type); };
  const auto possible = [&](std::int32_t o) { return impossible[to_index(o)] == 0; };

  std::int32_t next = -1;  // the first shape that the cluster could hold
  for (std::int32_t o = first; o < last; ++o) {
    if (possible(o) && (next < 0 || p.options[o].shape < next)) next = p.options[o].shape;
  }
  if (next < 0) {  // as for certificates, all of them count
    for (std::int32_t o = first; o < last; ++o) rows_.push_back(o);
    return;
  }
  for (const bool only_possible : {false, true}) {
    const std::int32_t gpus = shapes[only_possible ? to_index(next) : 0].gpus;
    // On each GPU type the first shape with that many GPUs, else the first of all.
    first_shape_.assign(to_index(p.n_types), -1);
    const auto before = [&](std::int32_t a, std::int32_t b) {
      const bool a_asked = shapes[to_index(a)].gpus == gpus, b_asked = shapes[to_index(b)].gpus == gpus;
      return a_asked != b_asked ? a_asked : a < b;
    };
    for (std::int32_t o = first; o < last; ++o) {
      if (only_possible && !possible(o)) continue;
      std::int32_t& best = first_shape_[type_of(o)];
      if (best < 0 || before(p.options[o].shape, best)) best = p.options[o].shape;
    }
    for (std::int32_t o = first; o < last; ++o) {
      const std::int32_t best = first_shape_[type_of(o)];
      const bool asked = p.options[o].shape == best || shapes[to_index(p.options[o].shape)].gpus == gpus;
      if (asked && possible(o)) rows_.push_back(o);
    }
    if (!rows_.empty()) return;
  }
}

void TriedOptions::largest(const kernel::ProblemView& p, std::int32_t job) {
  for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) rows_.push_back(o);
  std::stable_sort(rows_.begin(), rows_.end(), [&](std::int32_t a, std::int32_t b) {
    return p.demands[p.options[a].demand].gpus > p.demands[p.options[b].demand].gpus;
  });
}

void TriedOptions::build(const StateImpl& s, const kernel::ProblemView& p, ShapeRule rule, Rejections& rejections) {
  narrows_ = false;
  if (rule == ShapeRule::kLeastGpuTime) return;
  narrows_ = s.any_several_shapes();
  if (!narrows_) return;
  std::span<const std::uint8_t> impossible;
  if (rule == ShapeRule::kRequested) impossible = rejections.impossible(s, p);
  begin_.assign(1, 0);
  own_.clear();
  options_.clear();
  left_out_.assign(to_index(p.n_options), 1);
  for (std::int32_t job = 0; job < p.n_jobs; ++job) {
    rows_.clear();
    if (!has_several_shapes(p, job)) {
      for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) rows_.push_back(o);
    } else if (rule == ShapeRule::kRequested) {
      requested(s, p, job, impossible);
    } else {
      largest(p, job);
    }
    for (const std::int32_t o : rows_) {
      options_.push_back(p.options[o]);
      own_.push_back(o - p.option_begin[job]);
      left_out_[to_index(o)] = 0;
    }
    begin_.push_back(static_cast<std::int32_t>(options_.size()));
  }
}

kernel::ProblemView TriedOptions::view(kernel::ProblemView own) const {
  if (!narrows_) return own;
  kernel::set_options(own, begin_.data(), options_.data());
  return own;
}

const TimeUs* TriedOptions::run_times(const kernel::ProblemView& p, const TimeUs* own, std::vector<TimeUs>& into) const {
  if (!narrows_) return own;
  into.clear();
  for (std::int32_t job = 0; job < p.n_jobs; ++job) {
    const std::int32_t rows = begin_[to_index(job) + 1] - begin_[to_index(job)];
    for (std::int32_t row = 0; row < rows; ++row) into.push_back(own[p.option_begin[job] + own_of(job, row)]);
  }
  return into.data();
}

void TriedOptions::translate(const kernel::PlaceRequest& request, const kernel::PlaceResult& result) const {
  for (std::int32_t i = 0; narrows_ && i < request.n; ++i) {
    if (result.option[i] >= 0) result.option[i] = own_of(request.order[i], result.option[i]);
  }
}

}  // namespace berth::core
