#include "host/sim/counts/gpu_timeline.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "host/core/base/wide.hpp"

namespace berth::sim {
namespace {

std::int64_t count(GpuTimeline::Gpus gpus) {
  std::int64_t n = 0;
  for (const std::uint64_t word : gpus) n += std::popcount(word);
  return n;
}

/// Keeps what is in both. @returns how many those are.
std::int64_t meet(std::span<std::uint64_t> gpus, GpuTimeline::Gpus with) {
  std::int64_t n = 0;
  for (std::size_t w = 0; w < gpus.size(); ++w) {
    gpus[w] &= with[w];
    n += std::popcount(gpus[w]);
  }
  return n;
}

}  // namespace

void GpuTimeline::begin(TimeUs now, Gpus free) {
  first_ = 0;
  known_.clear();
  from_.assign(1, now);
  many_.assign(1, count(free));
  row_of_.assign(1, 0);
  rows_.assign(free.begin(), free.end());
  unused_.clear();
}

/// @returns a copy of a row.
std::size_t GpuTimeline::new_row(std::size_t of) {
  std::size_t row = rows_.size() / words_;
  if (unused_.empty()) {
    rows_.resize(rows_.size() + words_);
  } else {
    row = unused_.back();
    unused_.pop_back();
  }
  std::copy_n(rows_.data() + of * words_, words_, rows_.data() + row * words_);
  return row;
}

void GpuTimeline::release(TimeUs at, Gpus gpus) {
  assert(at >= from_.back());
  known_.clear();
  if (at > from_.back()) {
    from_.push_back(at);
    many_.push_back(0);
    row_of_.push_back(new_row(row_of_.back()));
  }
  const std::span<std::uint64_t> last = row(spans() - 1);
  for (std::size_t w = 0; w < words_; ++w) last[w] |= gpus[w];
  many_.back() = count(last);
}

void GpuTimeline::advance(TimeUs now) {
  while (first_ + 1 < spans() && from_[first_ + 1] <= now) ++first_;
  if (first_ < 64 || first_ < spans() / 2) return;
  const auto past = static_cast<std::ptrdiff_t>(first_);
  from_.erase(from_.begin(), from_.begin() + past);
  many_.erase(many_.begin(), many_.begin() + past);
  unused_.insert(unused_.end(), row_of_.begin(), row_of_.begin() + past);
  row_of_.erase(row_of_.begin(), row_of_.begin() + past);
  first_ = 0;
}

/// The span that has this instant.
std::size_t GpuTimeline::span_at(TimeUs at) const {
  const auto behind = std::upper_bound(from_.begin() + static_cast<std::ptrdiff_t>(first_) + 1, from_.end(), at);
  return static_cast<std::size_t>(behind - from_.begin()) - 1;
}

/// Makes a span begin at this instant. @returns that span.
std::size_t GpuTimeline::cut(TimeUs at) {
  const std::size_t span = span_at(at);
  if (from_[span] >= at) return span;
  const auto behind = static_cast<std::ptrdiff_t>(span) + 1;
  from_.insert(from_.begin() + behind, at);
  many_.insert(many_.begin() + behind, many_[span]);
  row_of_.insert(row_of_.begin() + behind, new_row(row_of_[span]));
  return span + 1;
}

// What is free only shrinks while GPUs are reserved. So what is known of a GPU count and run time holds for more and longer ones.
TimeUs GpuTimeline::known_until(std::int64_t gpus, TimeUs run, TimeUs from) const {
  for (const Known& one : known_) {
    if (one.gpus <= gpus && one.run <= run && one.from <= from) from = std::max(from, one.until);
  }
  return from;
}

void GpuTimeline::remember(const Known& one) {
  std::size_t i = 0;
  while (i < known_.size() && known_[i].gpus != one.gpus) i += 2;
  if (i == known_.size()) known_.insert(known_.end(), 2, one);
  if (one.run <= known_[i].run) known_[i] = one;
  known_[i + 1] = one;
}

TimeUs GpuTimeline::find(std::int64_t gpus, TimeUs run, TimeUs from, std::span<std::uint64_t> free) {
  const TimeUs known = known_until(gpus, run, from);
  const TimeUs start = known == kNever ? kNever : search(gpus, run, known, free);
  remember({gpus, run, from, start});
  return start;
}

// A start is tried with the spans that it needs, one by one, until too few GPUs are free in all of them. Then no start is possible up to
// the last of these spans from which on too few are. They are found by going back.
TimeUs GpuTimeline::search(std::int64_t gpus, TimeUs run, TimeUs from, std::span<std::uint64_t> free) {
  back_.resize(words_);
  std::size_t first = span_at(from);
  std::size_t last = first;  // `free` is that of the spans from `first` to `last`, where there are enough
  bool enough = false;
  for (;;) {
    if (!enough) {
      while (first < spans() && many_[first] < gpus) ++first;
      if (first == spans()) return kNever;
      std::copy_n(row(first).begin(), words_, free.begin());
      last = first;
      enough = true;
    }
    const TimeUs start = std::max(from, from_[first]);
    const TimeUs end = core::saturating_add(start, run);
    for (;;) {
      if (last + 1 == spans() || from_[last + 1] >= end) return start;
      ++last;
      if (many_[last] < gpus) {
        first = last + 1;
        enough = false;
        break;
      }
      if (meet(free, row(last)) >= gpus) continue;
      std::copy_n(row(last).begin(), words_, back_.begin());
      for (first = last;; --first) {
        std::copy_n(back_.begin(), words_, free.begin());
        if (meet(back_, row(first - 1)) < gpus) break;
      }
      break;
    }
  }
}

void GpuTimeline::room(TimeUs now, std::vector<Room>& steps) const {
  const std::size_t first = span_at(now);
  steps.assign(1, {many_[first], kNever});
  std::vector<std::uint64_t> free(row(first).begin(), row(first).end());
  for (std::size_t span = first + 1; span < spans() && steps.back().gpus > 0; ++span) {
    const std::int64_t gpus = meet(free, row(span));
    if (gpus == steps.back().gpus) continue;
    steps.back().until = from_[span];
    steps.push_back({gpus, kNever});
  }
}

bool GpuTimeline::is_free(TimeUs from, TimeUs run, Gpus gpus) const {
  const TimeUs end = core::saturating_add(from, run);
  for (std::size_t span = span_at(from); span < spans() && (from_[span] < end || from_[span] <= from); ++span) {
    const Gpus free = row(span);
    for (std::size_t w = 0; w < words_; ++w) {
      if ((gpus[w] & ~free[w]) != 0) return false;
    }
  }
  return true;
}

void GpuTimeline::reserve(TimeUs from, TimeUs run, Gpus gpus) {
  assert(is_free(from, run, gpus));
  const TimeUs end = core::saturating_add(from, run);
  const std::size_t first = cut(from);
  const std::size_t behind = end == kNever ? spans() : cut(end);
  const std::int64_t n = count(gpus);
  std::size_t begin = 0, end_word = words_;  // of the words with any
  while (begin < end_word && gpus[begin] == 0) ++begin;
  while (begin < end_word && gpus[end_word - 1] == 0) --end_word;
  for (std::size_t span = first; span < behind; ++span) {
    const std::span<std::uint64_t> free = row(span);
    for (std::size_t w = begin; w < end_word; ++w) free[w] &= ~gpus[w];
    many_[span] -= n;
  }
}

}  // namespace berth::sim
