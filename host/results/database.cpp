#include "host/results/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "berth/error.hpp"
#include "host/io/files/file_error.hpp"
#include "host/results/read_only_database.hpp"

namespace berth::results {
namespace {

constexpr int kMostWaitMs = 10'000;

// A run with rows of jobs is some tens of megabytes: it stays in memory until it is committed (KiB), and goes from the log into the file
// (pages) only once some have come.
constexpr const char* kLargeRuns = "PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 16384";

// ":memory:" and "file:..." must be names of files, too.
std::string file_name(const std::string& path) { return path.substr(0, 1) == "/" ? path : "./" + path; }

}  // namespace

Database::Database(const std::string& path) : path_(path) {
  open(file_name(path));
  sqlite3_busy_timeout(handle_, kMostWaitMs);
}

Database::Database(InMemory) : path_("results in memory") { open(":memory:"); }

void Database::open(const std::string& name) {
  // One thread at a time uses a connection.
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(name.c_str(), &handle_, kFlags, nullptr) == SQLITE_OK) return;
  const std::string why = handle_ != nullptr ? sqlite3_errmsg(handle_) : "out of memory";
  sqlite3_close(handle_);
  throw EnvironmentError(fmt::format("cannot open '{}': {}", path_, why));
}

Database::~Database() { sqlite3_close(handle_); }

void Database::run(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

// SQLite does not wait where two connections change a new file to WAL at once, as each holds what the other needs.
void Database::log_writes() {
  int code = SQLITE_BUSY;
  for (int waited = 0; code == SQLITE_BUSY && waited < kMostWaitMs; ++waited) {
    code = sqlite3_exec(handle_, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_BUSY) sqlite3_sleep(1);
  }
  if (code != SQLITE_OK) fail();
  run(kLargeRuns);
}

std::int64_t Database::number(const std::string& sql) {
  Statement query(*this, sql);
  return query.step() ? query.number() : 0;
}

std::vector<std::string> Database::texts(const std::string& sql) {
  Statement query(*this, sql);
  std::vector<std::string> texts;
  while (query.step()) texts.push_back(query.text());
  return texts;
}

std::string Database::bytes() {
  sqlite3_int64 size = 0;
  unsigned char* all = sqlite3_serialize(handle_, "main", &size, 0);
  if (all == nullptr) throw std::bad_alloc();
  std::string copy(reinterpret_cast<const char*>(all), static_cast<std::size_t>(size));
  sqlite3_free(all);
  return copy;
}

void Database::attach(const std::string& path, const std::string& name) {
  if (::access(path.c_str(), R_OK) != 0) io::fail_file("open", path, errno);
  const std::string plain = file_name(path);
  Statement statement(*this, "ATTACH ? AS " + name);
  statement.bind(plain);
  statement.step();
}

void Database::attach_bytes(std::string& bytes, const std::string& name) {
  run("ATTACH ':memory:' AS " + name);
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  auto* data = reinterpret_cast<unsigned char*>(bytes.data());
  if (sqlite3_deserialize(handle_, name.c_str(), data, size, size, SQLITE_DESERIALIZE_READONLY) != SQLITE_OK) fail();
}

void Database::detach(const std::string& name) { run("DETACH " + name); }

std::int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_); }

void Database::fail() const {
  const int code = sqlite3_errcode(handle_);
  if (code == SQLITE_NOTADB) throw InputError(path_, "", 0, "is no SQLite file");
  if (code == SQLITE_CORRUPT) throw InputError(path_, "", 0, "is a damaged SQLite file");
  if (only_reads_) fail_to_read(path_, handle_);
  throw EnvironmentError(fmt::format("cannot write '{}': {}", path_, sqlite3_errmsg(handle_)));
}

Transaction::Transaction(Database& database) : database_(database) { database_.run("BEGIN IMMEDIATE"); }

// A change of no row takes the lock.
Transaction::Transaction(Database& database, MainOnly) : database_(database) {
  database_.run("BEGIN");
  try {
    database_.run("DELETE FROM main.meta WHERE 0");
  } catch (...) {
    sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

Statement::Statement(Database& database, const std::string& sql) : database_(database) {
  check(sqlite3_prepare_v2(database.handle(), sql.c_str(), -1, &handle_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(handle_); }

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_.fail();
}

void Statement::bind(std::int64_t value) { check(sqlite3_bind_int64(handle_, ++bound_, value)); }

void Statement::bind(std::string_view text) {
  const char* bytes = text.data() == nullptr ? "" : text.data();
  check(sqlite3_bind_text64(handle_, ++bound_, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8));
}

void Statement::bind_nothing() { check(sqlite3_bind_null(handle_, ++bound_)); }

bool Statement::step() {
  bound_ = 0;
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail();
  check(sqlite3_reset(handle_));
  return false;
}

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(handle_, column);
  return text == nullptr ? std::string() : std::string(text, text + sqlite3_column_bytes(handle_, column));
}

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(handle_, column); }

int Statement::columns() const { return sqlite3_column_count(handle_); }

std::string Statement::name(int column) const {
  const char* name = sqlite3_column_name(handle_, column);
  return name == nullptr ? std::string() : std::string(name);
}

bool Statement::is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

bool Statement::is_number(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_INTEGER; }
void Statement::append_value(int column, std::string& out) const {
  const auto add = [&](char type, std::uint64_t value) {
    out += type;
    for (int byte = 0; byte < 8; ++byte) out += static_cast<char>(value >> (8 * byte));
  };
  switch (sqlite3_column_type(handle_, column)) {
    case SQLITE_NULL:
      return add('n', 0);
    case SQLITE_INTEGER:
      return add('i', static_cast<std::uint64_t>(number(column)));
    default: {
      const std::string value = text(column);
      add('t', value.size());
      out += value;
    }
  }
}

}  // namespace berth::results
