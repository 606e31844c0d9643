#include "tests/support/result_buffers.hpp"

#include <fmt/format.h>

#include <array>
#include <ostream>

namespace berth::test {
namespace {

bool same(const kernel::PlacedRow& a, const kernel::PlacedRow& b) {
  return a.node == b.node && a.group == b.group && a.member == b.member && a.members == b.members && a.mask == b.mask &&
         a.share_ppm == b.share_ppm;
}

std::string job_text(const ResultBuffers& r, std::size_t i) {
  std::string text = fmt::format("{} option {} displaced_by {} reserve_at {} rows [{}, {})", to_string(r.outcome[i]), r.option[i],
                                 r.displaced_by[i], r.reserve_at[i], r.entry_begin[i], r.entry_end[i]);
  for (const kernel::PlacedRow& row : r.entries_of(i)) text += fmt::format(" | {}", to_string(row));
  return text;
}

bool same_job(const ResultBuffers& a, const ResultBuffers& b, std::size_t i) {
  if (a.outcome[i] != b.outcome[i] || a.option[i] != b.option[i] || a.displaced_by[i] != b.displaced_by[i]) return false;
  if (a.reserve_at[i] != b.reserve_at[i] || a.entry_begin[i] != b.entry_begin[i] || a.entry_end[i] != b.entry_end[i]) return false;
  const auto x = a.entries_of(i);
  const auto y = b.entries_of(i);
  if (x.size() != y.size()) return false;
  for (std::size_t e = 0; e < x.size(); ++e) {
    if (!same(x[e], y[e])) return false;
  }
  return true;
}

}  // namespace

ResultBuffers::ResultBuffers(std::size_t n, std::int32_t max_entries)
    : outcome(n, static_cast<kernel::Outcome>(-7)),
      option(n, -7),
      entry_begin(n, -7),
      entry_end(n, -7),
      displaced_by(n, -7),
      reserve_at(n, -7),
      entries(static_cast<std::size_t>(max_entries), kernel::PlacedRow{-7, -7, -7, -7, 7, -7, -7}) {}

ResultBuffers::ResultBuffers(const Problem& problem, const PassCase& pass)
    : ResultBuffers(pass.order.size(), core::entry_bound(problem.view(), pass.discipline)) {}

kernel::PlaceResult ResultBuffers::view() {
  kernel::PlaceResult r{};
  r.outcome = outcome.data();
  r.option = option.data();
  r.entry_begin = entry_begin.data();
  r.entry_end = entry_end.data();
  r.displaced_by = displaced_by.data();
  r.entries = entries.data();
  r.max_entries = static_cast<std::int32_t>(entries.size());
  r.n_entries = &n_entries;
  r.reserve_at = reserve_at.data();
  return r;
}

std::vector<kernel::PlacedRow> ResultBuffers::entries_of(std::size_t i) const {
  const auto size = static_cast<std::int32_t>(entries.size());
  if (entry_begin[i] < 0 || entry_end[i] > size || entry_begin[i] > entry_end[i]) return {};
  return {entries.begin() + entry_begin[i], entries.begin() + entry_end[i]};
}

bool operator==(const ResultBuffers& a, const ResultBuffers& b) {
  if (a.outcome.size() != b.outcome.size()) return false;
  for (std::size_t i = 0; i < a.outcome.size(); ++i) {
    if (!same_job(a, b, i)) return false;
  }
  return a.n_entries == b.n_entries;
}

std::string diff(const ResultBuffers& want, const ResultBuffers& got) {
  std::string text;
  int lines = 0;
  if (want.outcome.size() != got.outcome.size()) return fmt::format("jobs: want {}, got {}\n", want.outcome.size(), got.outcome.size());
  for (std::size_t i = 0; i < want.outcome.size() && lines < 20; ++i) {
    if (same_job(want, got, i)) continue;
    text += fmt::format("position {}:\n  want {}\n  got  {}\n", i, job_text(want, i), job_text(got, i));
    ++lines;
  }
  if (want.n_entries != got.n_entries) text += fmt::format("n_entries: want {}, got {}\n", want.n_entries, got.n_entries);
  return text;
}

std::string to_string(kernel::Outcome outcome) {
  static constexpr std::array kNames{"waits", "behind", "budget", "quota", "placed", "kept", "moved", "preempted", "reserved", "gave up"};
  const auto i = static_cast<std::size_t>(outcome);
  return i < kNames.size() ? kNames[i] : fmt::format("outcome {}", static_cast<std::int32_t>(outcome));
}

std::string to_string(const kernel::PlacedRow& row) {
  std::string gpus;
  for (int g = 0; g < 64; ++g) {
    if ((row.mask >> g & 1) != 0) gpus += fmt::format("{}{}", gpus.empty() ? "" : ",", g);
  }
  const std::string share = row.share_ppm == kWholeGpu ? "" : fmt::format("@{}", row.share_ppm);
  return fmt::format("g{} m{}..{} n{} {{{}}}{}", row.group, row.member, row.member + row.members - 1, row.node, gpus, share);
}

void PrintTo(const ResultBuffers& result, std::ostream* out) {
  for (std::size_t i = 0; i < result.outcome.size(); ++i) *out << "\n  " << i << ": " << job_text(result, i);
  *out << fmt::format("\n  entries {}", result.n_entries);
}

std::vector<kernel::CandidateRow> score(core::PlacementBackend& backend, const Problem& problem, const kernel::ScoreQuery& request) {
  std::vector<kernel::CandidateRow> out(static_cast<std::size_t>(request.n) * static_cast<std::size_t>(request.k), {-7, -7, -7, -7, -7});
  backend.score(problem.view(), request, out.data());
  return out;
}

ResultBuffers place(core::PlacementBackend& backend, const Problem& problem, const PassCase& pass) {
  ResultBuffers result(problem, pass);
  backend.place(problem.view(), pass.view(), result.view());
  return result;
}

}  // namespace berth::test
