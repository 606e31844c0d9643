#include "host/core/policy_api/kept_columns.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace berth::core {

void sort_by_id(JobsById& jobs) {
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) { return *a.first < *b.first; });
}

// Both are sorted by id: one pass.
void read_column(const PolicyState& kept, const std::string& name, const JobsById& jobs, std::vector<std::int64_t>& values) {
  const auto known = kept.columns.find(name);
  if (known == kept.columns.end()) return;
  auto row = known->second.begin();
  for (const auto& job : jobs) {
    while (row != known->second.end() && row->first < *job.first) ++row;
    if (row == known->second.end()) return;
    if (row->first == *job.first) values[static_cast<std::size_t>(job.second)] = row->second;
  }
}

void write_column(PolicyState& kept, const std::string& name, const JobsById& jobs, const std::vector<std::int64_t>& values) {
  if (jobs.empty()) {
    kept.columns.erase(name);
    return;
  }
  std::map<std::string, std::int64_t>& column = kept.columns[name];
  auto row = column.begin();
  for (const auto& job : jobs) {
    while (row != column.end() && row->first < *job.first) row = column.erase(row);
    if (row == column.end() || row->first != *job.first) row = column.emplace_hint(row, *job.first, 0);
    row->second = values[static_cast<std::size_t>(job.second)];
    ++row;
  }
  column.erase(row, column.end());
}

}  // namespace berth::core
