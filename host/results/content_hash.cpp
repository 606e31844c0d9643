#include "host/results/content_hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "host/results/sha256.hpp"

namespace berth::results {
namespace {

struct HashedTable {
  const char* name;
  const char* run;  // the column that names the run
  std::array<const char*, 8> left_out;
};

constexpr HashedTable kHashedTables[] = {
    {"runs", "id", {"id", "written", "berth", "decision_p50_us", "decision_p99_us", "load_us", "wall_us"}},
    {"losses", "run", {"run"}},
    {"jobs", "run", {"run"}},
    {"series", "run", {"run"}},
    {"groups", "run", {"run"}},
    {"queues", "run", {"run"}},
    {"deadlines", "run", {"run"}},
    {"deadline_steps", "run", {"run"}},
    {"sweep_runs", "run", {"run", "inputs"}},
};

std::string rows_query(Database& database, const HashedTable& table) {
  std::string columns;
  for (const std::string& column : database.texts(fmt::format("SELECT name FROM pragma_table_info('{}') ORDER BY name", table.name))) {
    const auto is_it = [&](const char* out) { return out != nullptr && column == out; };
    if (std::any_of(table.left_out.begin(), table.left_out.end(), is_it)) continue;
    columns += fmt::format("{}\"{}\"", columns.empty() ? "" : ", ", column);
  }
  if (columns.empty()) return "SELECT 1 WHERE ? IS NULL";  // a file from before the table
  return fmt::format("SELECT {} FROM {} WHERE {} = ? ORDER BY rowid", columns, table.name, table.run);
}

}  // namespace

std::string content_hash(Database& database) {
  database.run("BEGIN");  // of one instant, also while others write
  std::vector<std::int64_t> ids;
  {
    Statement runs(database, "SELECT id FROM runs");
    while (runs.step()) ids.push_back(runs.number());
  }
  std::vector<std::string> queries;
  for (const HashedTable& table : kHashedTables) queries.push_back(rows_query(database, table));
  std::vector<std::string> hashes;
  std::string bytes;
  for (const std::int64_t id : ids) {
    Sha256 of_run;
    for (std::size_t t = 0; t < queries.size(); ++t) {
      of_run.add(kHashedTables[t].name);
      Statement rows(database, queries[t]);
      rows.bind(id);
      while (rows.step()) {
        bytes.assign(1, 'r');
        for (int column = 0; column < rows.columns(); ++column) rows.append_value(column, bytes);
        of_run.add(bytes);
      }
    }
    hashes.push_back(of_run.finish());
  }
  database.run("COMMIT");
  std::sort(hashes.begin(), hashes.end());
  Sha256 all;
  for (const std::string& hash : hashes) all.add(hash);
  return all.finish();
}

}  // namespace berth::results
