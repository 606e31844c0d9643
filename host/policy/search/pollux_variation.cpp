#include "host/policy/search/pollux_variation.hpp"

#include <algorithm>

namespace berth::policy {
namespace {

constexpr std::int32_t kOneInTen = 10;

void reset_and_thin(const PolluxProblem& p, const PolluxIndividual& individual, PolluxRows rows) {
  PolluxDraws reset = individual.draws(PolluxPurpose::kReset), zero = individual.draws(PolluxPurpose::kZero);
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    const std::size_t begin = to_index(j) * to_index(p.n_nodes);
    const PolluxRows row = rows.subspan(begin, to_index(p.n_nodes));
    if (reset.one_in(kOneInTen)) std::copy_n(p.current.data() + begin, row.size(), row.data());
    if (!zero.one_in(kOneInTen)) continue;
    for (std::uint8_t& here : row) {
      if (here > 0 && zero.one_in(kOneInTen)) here = 0;
    }
  }
}

}  // namespace

void cross_rows(const PolluxProblem& p, ConstPolluxRows first, ConstPolluxRows second, std::int32_t cut, PolluxRows offspring) {
  const std::size_t end = to_index(cut) * to_index(p.n_nodes);
  std::copy_n(first.data(), end, offspring.data());
  std::copy_n(second.data() + end, p.cells() - end, offspring.data() + end);
}

void PolluxMutation::apply(const PolluxProblem& p, const PolluxIndividual& individual, PolluxRows rows) {
  reset_and_thin(p, individual, rows);
  used_.assign(to_index(p.n_nodes), 0);
  for (std::size_t i = 0; i < rows.size(); i += used_.size()) {
    for (std::size_t n = 0; n < used_.size(); ++n) used_[n] += rows[i + n];
  }
  PolluxDraws draws = individual.draws(PolluxPurpose::kGrow);
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    const PolluxRows row = rows.subspan(to_index(j) * to_index(p.n_nodes), to_index(p.n_nodes));
    std::int32_t has = 0, other = 0;
    for (std::size_t n = 0; n < row.size(); ++n) {
      has += row[n] > 0 ? 1 : 0;
      other += row[n] == 0 && used_[n] < p.node_gpus[n] ? 1 : 0;
    }
    for (std::size_t n = 0; n < row.size(); ++n) {
      const std::int32_t room = p.node_gpus[n] - used_[n];
      if (room <= 0 || !draws.one_in(row[n] > 0 ? has : other)) continue;
      const std::int32_t more = draws.below(std::clamp(p.most_gpus[to_index(j)] - row[n], 0, room) + 1);
      row[n] = static_cast<std::uint8_t>(row[n] + more);
      used_[n] += more;
    }
  }
}

}  // namespace berth::policy
