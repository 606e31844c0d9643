#include "host/cli/search/search_runs.hpp"

#include <fmt/format.h>

#include <utility>

#include "berth/error.hpp"
#include "berth/version.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/search/search_options.hpp"
#include "host/cli/sweep/sweep_serve.hpp"

namespace berth::cli {
namespace {

std::unique_ptr<results::SweepStore> open_store(const std::string& out) {
  if (out.empty()) return std::make_unique<results::SweepStore>(results::Database::InMemory{});
  return std::make_unique<results::SweepStore>(out);
}

}  // namespace

SearchRuns::SearchRuns(const std::string& out, int threads)
    : out_(out), threads_(threads), store_(open_store(out)), stored_(store_->figures()), inputs_(threads), identity_("") {
  std::vector<std::string> versions = store_->versions();
  std::erase(versions, std::string(BERTH_VERSION));
  if (!versions.empty()) print_error(fmt::format("note: the store has runs of berth {}", fmt::join(versions, ", ")));
}

SweepCell SearchRuns::cell_of(const RunTexts& texts) {
  try {
    return make_cell(texts, identity_, "");
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(as_option(error.what()));
  }
}

std::optional<SearchBatch> SearchRuns::make(const std::vector<SearchCell>& cells, const std::vector<std::int64_t>& seeds,
                                            const Show& show) {
  SweepPlan plan;
  plan.spec.seeds = seeds;
  plan.spec.asked_seeds = static_cast<std::int64_t>(seeds.size());
  for (const SearchCell& one : cells) {
    SweepCell cell = cell_of(one.texts);
    cell.block = plan.cells.size();
    cell.most_decisions = one.most_decisions;
    cell.most_us = one.most_us;
    plan.blocks.push_back({cell.block});
    for (const std::int64_t seed : seeds) {
      const std::string key = sweep_key(cell, seed);
      if (counted_.insert(key).second) ++(stored_.count(key) > 0 ? resumed_ : made_);
    }
    plan.cells.push_back(std::move(cell));
  }
  SweepState state(plan, stored_, {});
  SweepWorkers workers(plan, out_, {});
  serve_sweep(plan, state, *store_, inputs_, threads_, workers, [&](const SweepState& now) {
    if (show) show(now.done(), now.known());
  });
  if (remembered_signal() != 0) return std::nullopt;
  SearchBatch batch;
  batch.problems = state.problems();
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    batch.figures.push_back(state.figures(c));
    for (const auto& [seed, figures] : state.figures(c)) stored_.emplace(sweep_key(plan.cells[c], seed), figures);
  }
  return batch;
}

std::shared_ptr<const SweepWorld> SearchRuns::world(const RunTexts& texts, std::int64_t seed) {
  const SweepCell cell = cell_of(texts);
  try {
    return inputs_.world(cell, seed);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(as_option(error.what()));
  }
}

std::vector<results::CompletedJob> SearchRuns::jobs(const RunTexts& texts, std::int64_t seed) {
  return store_->jobs(sweep_key(cell_of(texts), seed));
}

}  // namespace berth::cli
