#include "host/policy/search/pollux_repair.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace berth::policy {

void PolluxRepair::apply(const PolluxProblem& p, const PolluxIndividual& individual, PolluxRows rows) {
  keep_one_type(p, rows);
  keep_one_wide_job_a_node(p, rows);
  cut_rows(p, individual, rows);
  cut_nodes(p, rows);
  cut_to_shapes(p, rows);
}

void PolluxRepair::keep_one_type(const PolluxProblem& p, PolluxRows rows) {
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    const PolluxRows row = rows.subspan(to_index(j) * to_index(p.n_nodes), to_index(p.n_nodes));
    on_type_.assign(to_index(p.n_types), 0);
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (row[n] > 0 && p.has_shape(j, p.node_type[n])) on_type_[to_index(p.node_type[n])] += row[n];
    }
    const auto kept = static_cast<std::int32_t>(std::max_element(on_type_.begin(), on_type_.end()) - on_type_.begin());
    const bool any = on_type_[to_index(kept)] > 0;
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (!any || p.node_type[n] != kept) row[n] = 0;
    }
  }
}

void PolluxRepair::keep_one_wide_job_a_node(const PolluxProblem& p, PolluxRows rows) {
  taken_.assign(to_index(p.n_nodes), 0);
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    const PolluxRows row = rows.subspan(to_index(j) * to_index(p.n_nodes), to_index(p.n_nodes));
    if (std::count_if(row.begin(), row.end(), [](std::uint8_t gpus) { return gpus > 0; }) < 2) continue;
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (row[n] == 0) continue;
      if (taken_[n] != 0) row[n] = 0;
      taken_[n] = 1;
    }
  }
}

void PolluxRepair::cut_rows(const PolluxProblem& p, const PolluxIndividual& individual, PolluxRows rows) {
  order_.resize(to_index(p.n_nodes));
  std::iota(order_.begin(), order_.end(), 0);
  PolluxDraws draws = individual.draws(PolluxPurpose::kShuffle);
  for (std::int32_t n = p.n_nodes - 1; n > 0; --n) std::swap(order_[to_index(n)], order_[to_index(draws.below(n + 1))]);
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    const PolluxRows row = rows.subspan(to_index(j) * to_index(p.n_nodes), to_index(p.n_nodes));
    std::int32_t gpus = p.most_gpus[to_index(j)], nodes = p.most_nodes[to_index(j)];
    for (const std::int32_t n : order_) {
      if (row[to_index(n)] == 0) continue;
      row[to_index(n)] = static_cast<std::uint8_t>(nodes == 0 ? 0 : std::min<std::int32_t>(row[to_index(n)], gpus));
      gpus -= row[to_index(n)];
      nodes -= row[to_index(n)] > 0 ? 1 : 0;
    }
  }
}

void PolluxRepair::cut_nodes(const PolluxProblem& p, PolluxRows rows) {
  used_.assign(to_index(p.n_nodes), 0);
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    const PolluxRows row = rows.subspan(to_index(j) * to_index(p.n_nodes), to_index(p.n_nodes));
    for (std::size_t n = 0; n < row.size(); ++n) {
      row[n] = static_cast<std::uint8_t>(std::min<std::int32_t>(row[n], p.node_gpus[n] - used_[n]));
      used_[n] += row[n];
    }
  }
}

void PolluxRepair::cut_to_shapes(const PolluxProblem& p, PolluxRows rows) {
  for (std::int32_t j = 0; j < p.n_jobs; ++j) {
    const PolluxRows row = rows.subspan(to_index(j) * to_index(p.n_nodes), to_index(p.n_nodes));
    std::int32_t type = 0, gpus = 0;
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (row[n] > 0) type = p.node_type[n];
      gpus += row[n];
    }
    if (gpus == 0) continue;
    const std::int32_t shape = p.shape_of(j, type, gpus);
    std::int32_t left = shape < 0 ? 0 : p.shape_gpus[to_index(shape)];
    for (std::uint8_t& here : row) {
      here = static_cast<std::uint8_t>(std::min<std::int32_t>(here, left));
      left -= here;
    }
  }
}

}  // namespace berth::policy
