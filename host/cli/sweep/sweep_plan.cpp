#include "host/cli/sweep/sweep_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "berth/error.hpp"
#include "berth/version.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/core/base/suggest.hpp"
#include "host/results/sha256.hpp"

namespace berth::cli {
namespace {

constexpr const char* kNoEdit = "-";
constexpr std::size_t kMostCells = 100'000;

// Saturates far above any limit.
__int128 times(__int128 a, __int128 b) { return a > (__int128{1} << 62) ? a : a * b; }

std::string long_number(__int128 number) {
  std::string digits;
  for (; number > 0; number /= 10) digits += static_cast<char>('0' + static_cast<int>(number % 10));
  if (digits.empty()) digits = "0";
  std::string text;
  for (std::size_t i = digits.size(); i-- > 0;) {
    text += digits[i];
    if (i > 0 && i % 3 == 0) text += ',';
  }
  return text;
}

void require_few_runs(const SweepSpec& spec, std::size_t edits) {
  __int128 runs = 1;
  std::string product;
  const auto add = [&](std::string_view key, std::int64_t values) {
    runs = times(runs, values);
    if (values > 1) product += fmt::format("{}{} {}", product.empty() ? "" : " x ", values, key);
  };
  for (const SweepAxis& axis : spec.axes) add(axis.key, static_cast<std::int64_t>(axis.values.size()));
  add("edit", static_cast<std::int64_t>(edits));
  const __int128 cells = runs;
  add("seeds", spec.asked_seeds);
  if (runs > kMostSweepRuns || cells > static_cast<__int128>(kMostCells)) {
    throw InputError(spec.path, "", 0,
                     fmt::format("asks for {} runs ({}); a sweep has at most {}, and {} without the seeds: split it", long_number(runs),
                                 product, long_number(kMostSweepRuns), long_number(kMostCells)));
  }
}

std::string label_of(const SweepCell& cell, const std::string& key, const std::string& edit) {
  if (key == "edit") return edit;
  if (key.substr(0, kParamKey.size()) == kParamKey) {
    const std::string name = key.substr(kParamKey.size());
    for (const auto& [param, value] : cell.draft.request.params) {
      if (param == name) return value;
    }
    return kNoEdit;
  }
  const auto found = cell.texts.find(key);
  std::string label = found == cell.texts.end() || found->second.empty() ? kNoEdit : found->second;
  std::replace(label.begin(), label.end(), '\n', ' ');
  return label;
}

std::string described(const RunTexts& texts, const std::string& edit) {
  const auto policy = texts.find("policy");
  return fmt::format("{}{}", policy == texts.end() ? "" : fmt::format("policy '{}'", echoed(policy->second)),
                     edit == kNoEdit ? "" : fmt::format(", edit '{}'", echoed(edit)));
}

void check_baseline(const SweepSpec& spec) {
  if (spec.baseline.empty()) return;
  std::vector<std::string_view> policies;
  for (const SweepAxis& axis : spec.axes) {
    if (axis.key == "policy") policies.insert(policies.end(), axis.values.begin(), axis.values.end());
  }
  if (std::find(policies.begin(), policies.end(), spec.baseline) != policies.end()) return;
  throw InputError(spec.path, "baseline", 0,
                   fmt::format("'{}' is none of the policies{}", echoed(spec.baseline), core::did_you_mean(spec.baseline, policies)));
}

class CellMaker {
 public:
  explicit CellMaker(SweepPlan& plan) : plan_(plan), identity_(plan.spec.folder) {}

  void make(RunTexts texts, const SweepEdit* edit) {
    const std::string edit_name = edit == nullptr ? kNoEdit : edit->name;
    if (edit != nullptr) {
      for (const auto& [key, text] : edit->values) texts.insert_or_assign(key, text);
    }
    SweepCell cell;
    try {
      cell = make_cell(texts, identity_, plan_.spec.folder);
    } catch (const InvalidArgument& error) {
      const std::string where = described(texts, edit_name);
      throw InputError(plan_.spec.path, "", 0, where.empty() ? error.what() : fmt::format("{}: {}", where, error.what()));
    }
    const auto [known, fresh] = known_.emplace(cell.identity, edit_name);
    if (!fresh && known->second != edit_name) {
      throw InputError(
          plan_.spec.path, "", 0,
          fmt::format("{}: the run is the same as with edit '{}': leave one out", described(texts, edit_name), echoed(known->second)));
    }
    if (!fresh) return;
    for (const std::string& column : plan_.columns) cell.labels.push_back(label_of(cell, column, edit_name));
    plan_.cells.push_back(std::move(cell));
  }

 private:
  SweepPlan& plan_;
  RunIdentity identity_;
  std::map<std::string, std::string> known_;  // identity -> edit
};

void make_blocks(SweepPlan& plan) {
  std::map<std::string, std::size_t> blocks;
  std::vector<std::vector<std::size_t>> cells;
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    const auto [block, fresh] = blocks.emplace(plan.cells[c].inputs, blocks.size());
    if (fresh) cells.emplace_back();
    cells[block->second].push_back(c);
  }
  std::vector<SweepCell> sorted;
  for (std::size_t b = 0; b < cells.size(); ++b) {
    std::vector<std::size_t>& block = plan.blocks.emplace_back();
    for (const std::size_t c : cells[b]) {
      block.push_back(sorted.size());
      sorted.push_back(std::move(plan.cells[c]));
      sorted.back().block = b;
    }
  }
  plan.cells = std::move(sorted);
}

}  // namespace

std::int64_t SweepPlan::most_seeds() const {
  const auto first = static_cast<std::int64_t>(spec.seeds.size());
  return spec.until ? std::max(first, std::min(spec.max_seeds, kMostSweepRuns / static_cast<std::int64_t>(cells.size()))) : first;
}

std::string sweep_key(const SweepCell& cell, std::int64_t seed) {
  constexpr std::size_t kKeyDigits = 32;
  return results::sha256_of(fmt::format("{}seed={}\n", cell.identity, seed)).substr(0, kKeyDigits);
}

SweepCell make_cell(RunTexts texts, RunIdentity& identity, const std::string& folder) {
  std::erase_if(texts, [](const auto& entry) { return entry.second.empty(); });
  SweepCell cell;
  cell.draft = draft_of(texts, folder);
  cell.identity = identity.of(texts, cell.draft);
  cell.inputs = identity.of_inputs(texts);
  cell.texts = std::move(texts);
  return cell;
}

SweepPlan plan_sweep(SweepSpec spec) {
  SweepPlan plan;
  plan.spec = std::move(spec);
  const std::vector<SweepAxis>& axes = plan.spec.axes;
  std::vector<const SweepEdit*> edits;
  if (plan.spec.unedited || plan.spec.edits.empty()) edits.push_back(nullptr);
  for (const SweepEdit& edit : plan.spec.edits) edits.push_back(&edit);
  constexpr std::int64_t kFirstSeeds = 3;
  if (plan.spec.until && plan.spec.asked_seeds < kFirstSeeds) {
    plan.spec.asked_seeds = kFirstSeeds;
    plan.spec.seeds = {0, 1, 2};
  }
  if (plan.spec.until && plan.spec.max_seeds < plan.spec.asked_seeds)
    throw InputError(plan.spec.path, "max_seeds", 0, fmt::format("{} seeds are run first; this is less", plan.spec.asked_seeds));
  require_few_runs(plan.spec, edits.size());
  check_baseline(plan.spec);
  for (const SweepAxis& axis : axes) {
    if (axis.values.size() > 1 || axis.key == "policy") plan.columns.push_back(axis.key);
  }
  if (!plan.spec.edits.empty()) plan.columns.push_back("edit");
  CellMaker maker(plan);
  std::vector<std::size_t> at(axes.size(), 0);
  for (bool more = true; more;) {
    RunTexts texts;
    for (std::size_t a = 0; a < axes.size(); ++a) texts.insert_or_assign(axes[a].key, axes[a].values[at[a]]);
    for (const SweepEdit* edit : edits) maker.make(texts, edit);
    more = false;
    for (std::size_t a = axes.size(); a-- > 0 && !more;) {
      more = ++at[a] < axes[a].values.size();
      if (!more) at[a] = 0;
    }
  }
  make_blocks(plan);
  results::Sha256 all;
  all.add(BERTH_VERSION);
  for (const SweepCell& cell : plan.cells) all.add(cell.identity);
  plan.fingerprint = all.finish();
  return plan;
}

}  // namespace berth::cli
