#include "host/results/sweep_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "berth/error.hpp"
#include "host/io/files/file_error.hpp"
#include "host/results/content_hash.hpp"
#include "host/results/copy_runs.hpp"
#include "host/results/table_rows.hpp"

namespace berth::results {

const std::array<SweepMetric, kSweepMetrics> kSweepMetricTable{{
    {"mean_jct", "s.mean_jct_us", SweepMetric::kMicroseconds},
    {"median_jct", "s.median_jct_us", SweepMetric::kMicroseconds},
    {"p90_jct", "s.p90_jct_us", SweepMetric::kMicroseconds},
    {"p99_jct", "s.p99_jct_us", SweepMetric::kMicroseconds},
    {"max_jct", "s.max_jct_us", SweepMetric::kMicroseconds},
    {"mean_queue", "s.mean_queue_us", SweepMetric::kMicroseconds},
    {"median_queue", "s.median_queue_us", SweepMetric::kMicroseconds},
    {"p90_queue", "s.p90_queue_us", SweepMetric::kMicroseconds},
    {"p99_queue", "s.p99_queue_us", SweepMetric::kMicroseconds},
    {"max_queue", "s.max_queue_us", SweepMetric::kMicroseconds},
    {"mean_first_start", "s.mean_first_start_us", SweepMetric::kMicroseconds},
    {"p99_first_start", "s.p99_first_start_us", SweepMetric::kMicroseconds},
    {"completed", "s.completed", SweepMetric::kCount},
    {"rejected", "s.rejected", SweepMetric::kCount},
    {"unfinished", "s.unfinished", SweepMetric::kCount},
    {"killed", "s.killed", SweepMetric::kCount},
    {"makespan", "r.makespan_us", SweepMetric::kMicroseconds},
    {"gpu_utilisation", "r.gpu_utilisation_ppm", SweepMetric::kMillionths},
    {"goodput", "r.goodput_ppm", SweepMetric::kMillionths},
    {"effective_training_time", "r.effective_training_time_ppm", SweepMetric::kMillionths},
    {"overhead_part", "r.overhead_ppm", SweepMetric::kMillionths},
    {"mean_rho", "r.mean_rho_ppm", SweepMetric::kMillionths},
    {"p99_rho", "r.p99_rho_ppm", SweepMetric::kMillionths},
    {"max_rho", "r.max_rho_ppm", SweepMetric::kMillionths},
    {"jain", "r.jain_ppm", SweepMetric::kMillionths},
    {"hard_missed", "r.hard_missed", SweepMetric::kCount},
    {"starts", "r.starts", SweepMetric::kCount},
    {"preemptions", "r.preemptions", SweepMetric::kCount},
    {"moves", "r.moves", SweepMetric::kCount},
    {"failures", "r.failures", SweepMetric::kCount},
    {"decisions", "r.decisions", SweepMetric::kCount},
}};

std::optional<std::size_t> sweep_metric(std::string_view name) {
  if (name == "jct") name = "mean_jct";
  if (name == "queue") name = "mean_queue";
  for (std::size_t m = 0; m < kSweepMetrics; ++m) {
    if (kSweepMetricTable[m].name == name) return m;
  }
  return std::nullopt;
}

namespace {

std::string figures_query() {
  std::string columns = "s.key";
  for (const SweepMetric& metric : kSweepMetricTable) columns += fmt::format(", {}", metric.column);
  return fmt::format("SELECT {} FROM sweep_runs s JOIN runs r ON r.id = s.run", columns);
}

SweepFigures figures_in(const Statement& row) {
  SweepFigures figures{};
  for (std::size_t m = 0; m < kSweepMetrics; ++m) figures[m] = row.number(static_cast<int>(m) + 1);
  return figures;
}

void add_entry(Database& database, std::int64_t run, const SweepEntry& entry) {
  const CountedFigures& counted = entry.counted;
  TableRows row(database, "sweep_runs");
  row.text("key", entry.key).number("run", run).text("inputs", entry.inputs);
  row.number("counted", counted.jobs).number("completed", counted.completed).number("rejected", counted.rejected);
  row.number("unfinished", counted.unfinished).number("killed", counted.killed);
  add_spread(row, "jct_us", counted.jct_us);
  add_spread(row, "queue_us", counted.wait_us);
  add_spread(row, "first_start_us", counted.first_us);
  row.write();
}

bool has_key(Database& database, const std::string& key) {
  Statement query(database, "SELECT 1 FROM main.sweep_runs WHERE key = ?");
  query.bind(key);
  return query.step();
}

std::map<std::string, SweepFigures> all_figures(Database& database) {
  std::map<std::string, SweepFigures> all;
  Statement query(database, figures_query());
  while (query.step()) all.emplace(query.text(), figures_in(query));
  return all;
}

bool has_sweep_table(Database& database, const std::string& schema) {
  return database.number(fmt::format("SELECT count(*) FROM {}.sqlite_schema WHERE name = 'sweep_runs'", schema)) > 0;
}

// Attached while it lives.
class Attached {
 public:
  explicit Attached(Database& database) : database_(database) {}
  ~Attached() {
    try {
      database_.detach("part");
    } catch (const Error&) {  // it was never attached, or the connection is lost
    }
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  Database& database_;
};

}  // namespace

StoreLock::StoreLock(const std::string& path) : fd_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (fd_ < 0) io::fail_file("open", path, errno);
  struct stat info {};
  std::string problem;
  if (::fstat(fd_, &info) == 0 && !S_ISREG(info.st_mode)) {
    problem = fmt::format("cannot open '{}': results are a database, which is an ordinary file", path);
  } else if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    problem = errno == EWOULDBLOCK
                  ? fmt::format("'{}': another sweep writes to it; wait for its end, or name another store with --out", path)
                  : fmt::format("cannot lock '{}': {}", path, std::generic_category().message(errno));
  }
  if (problem.empty()) return;
  ::close(fd_);
  throw EnvironmentError(problem);
}

StoreLock::~StoreLock() { ::close(fd_); }

std::map<std::string, SweepFigures> SweepStore::figures() { return all_figures(file_.database()); }

SweepFigures SweepStore::figures_of(const std::string& key) {
  Statement query(file_.database(), figures_query() + " WHERE s.key = ?");
  query.bind(key);
  if (!query.step()) throw InputError(file_.database().path(), "", 0, "lacks the run that was added");
  return figures_in(query);
}

SweepFigures SweepStore::add(const SweepEntry& entry, const Run& run) {
  Database& database = file_.database();
  Transaction transaction(database);
  if (!has_key(database, entry.key)) add_entry(database, file_.add_within(run), entry);
  const SweepFigures figures = figures_of(entry.key);
  transaction.commit();
  return figures;
}

SweepFigures SweepStore::add_packed(const std::string& key, std::string& packed) {
  Database& database = file_.database();
  const Attached attached(database);
  database.attach_bytes(packed, "part");
  Transaction transaction(database, Transaction::MainOnly{});
  copy_sweep_runs(database, "part");
  const SweepFigures figures = figures_of(key);
  transaction.commit();
  return figures;
}

std::int64_t SweepStore::merge(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) io::fail_file("read", path, errno);
  {
    Database part(path);  // its errors name it
    require_results(part, "main", path, false);
    if (part.texts("PRAGMA quick_check(1)") != std::vector<std::string>{"ok"}) throw InputError(path, "", 0, "is a damaged SQLite file");
  }
  Database& database = file_.database();
  const Attached attached(database);
  database.attach(path, "part");
  if (!has_sweep_table(database, "part")) return 0;
  Transaction transaction(database, Transaction::MainOnly{});
  const std::int64_t runs = copy_sweep_runs(database, "part");
  transaction.commit();
  return runs;
}

std::vector<std::string> SweepStore::versions() {
  return file_.database().texts("SELECT DISTINCT r.berth FROM sweep_runs s JOIN runs r ON r.id = s.run ORDER BY 1");
}

std::vector<CompletedJob> SweepStore::jobs(const std::string& key) {
  std::vector<CompletedJob> jobs;
  Statement query(file_.database(),
                  "SELECT j.submit_us, j.jct_us, j.queue_us, j.start_us - j.submit_us FROM jobs j JOIN sweep_runs s ON s.run = j.run "
                  "WHERE s.key = ? AND j.outcome = 'completed' ORDER BY j.rowid");
  query.bind(key);
  while (query.step()) {
    CompletedJob& job = jobs.emplace_back();
    job.submit_us = query.number(0), job.jct_us = query.number(1), job.queue_us = query.number(2), job.first_us = query.number(3);
  }
  return jobs;
}

std::string SweepStore::hash() { return content_hash(file_.database()); }

std::map<std::string, SweepFigures> stored_figures(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) return {};
  Database database(path);
  require_results(database, "main", path, true);
  return has_sweep_table(database, "main") ? all_figures(database) : std::map<std::string, SweepFigures>{};
}

std::string packed_run(const SweepEntry& entry, const Run& run) {
  ResultsFile file{Database::InMemory{}};
  Transaction transaction(file.database());
  add_entry(file.database(), file.add_within(run), entry);
  transaction.commit();
  return file.database().bytes();
}

std::string hash_of_file(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) io::fail_file("read", path, errno);
  Database database(path);
  require_results(database, "main", path, false);
  return content_hash(database);
}

}  // namespace berth::results
