#include "host/results/copy_runs.hpp"

#include <fmt/format.h>

#include <vector>

namespace berth::results {
namespace {

// All columns but the one that names the run.
std::string columns_of(Database& database, const std::string& table, const std::string& run) {
  std::string columns;
  for (const std::string& column : database.texts(fmt::format("SELECT name FROM pragma_table_info('{}')", table))) {
    if (column != run) columns += fmt::format(", \"{}\"", column);
  }
  return columns;
}

}  // namespace

std::int64_t copy_sweep_runs(Database& database, const std::string& schema) {
  std::vector<std::int64_t> runs;
  {
    Statement missing(
        database, fmt::format("SELECT run FROM {}.sweep_runs WHERE key NOT IN (SELECT key FROM main.sweep_runs) ORDER BY rowid", schema));
    while (missing.step()) runs.push_back(missing.number());
  }
  const std::string head = columns_of(database, "runs", "id").substr(2);
  std::vector<std::string> tables;
  for (const char* table : {"losses", "jobs", "series", "groups", "queues", "deadlines", "deadline_steps", "sweep_runs"}) {
    const std::string rest = columns_of(database, table, "run");
    tables.push_back(
        fmt::format("INSERT INTO main.{0} (run{1}) SELECT ?{1} FROM {2}.{0} WHERE run = ? ORDER BY rowid", table, rest, schema));
  }
  Statement run(database, fmt::format("INSERT INTO main.runs ({0}) SELECT {0} FROM {1}.runs WHERE id = ?", head, schema));
  for (const std::int64_t old : runs) {
    run.bind(old);
    run.step();
    const std::int64_t id = database.last_row();
    for (const std::string& sql : tables) {
      Statement rows(database, sql);
      rows.bind(id);
      rows.bind(old);
      rows.step();
    }
  }
  return static_cast<std::int64_t>(runs.size());
}

}  // namespace berth::results
