#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace berth::results {

/// An open SQLite file. Every failure is an EnvironmentError that names the file; a file of another kind is an
/// InputError.
class Database {
 public:
  /// Opens or creates it. Waits up to ten seconds while another process writes.
  explicit Database(const std::string& path);
  /// Opens a file that exists, and never changes it. Waits likewise while another process holds it.
  struct ReadOnly {};
  Database(const std::string& path, ReadOnly);
  /// A database in memory, without a file.
  struct InMemory {};
  explicit Database(InMemory);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Runs statements without results, separated by semicolons.
  void run(const std::string& sql);
  /// Writes go to a log beside the file. Waits as the constructor does.
  void log_writes();
  /// The single number that a query returns.
  std::int64_t number(const std::string& sql);
  /// The first column of the rows that a query returns.
  std::vector<std::string> texts(const std::string& sql);
  std::int64_t last_row() const;
  /// The bytes of the whole database, as a file would have them.
  std::string bytes();
  /// Attaches another file as `name`; it must exist.
  void attach(const std::string& path, const std::string& name);
  /// Attaches what `bytes` returned, without copying it: it must live until `detach`.
  void attach_bytes(std::string& bytes, const std::string& name);
  void detach(const std::string& name);

  const std::string& path() const { return path_; }
  [[noreturn]] void fail() const;
  sqlite3* handle() { return handle_; }

 private:
  void open(const std::string& name);

  std::string path_;
  bool only_reads_ = false;
  sqlite3* handle_ = nullptr;
};

/// Between its construction and `commit` all or nothing is written.
class Transaction {
 public:
  explicit Transaction(Database& database);
  /// Locks the file itself for writing, and no attached one.
  struct MainOnly {};
  Transaction(Database& database, MainOnly);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

/// A prepared statement; values are bound in order, and texts must live until `step`.
class Statement {
 public:
  Statement(Database& database, const std::string& sql);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  void bind(std::int64_t value);
  void bind(std::string_view text);
  void bind_nothing();
  /// Runs it; values can be bound again afterwards. @returns whether there is a row, which is valid until the next
  /// call.
  bool step();
  std::int64_t number(int column = 0) const;  ///< of the row
  std::string text(int column = 0) const;     ///< the same
  int columns() const;
  std::string name(int column) const;
  bool is_null(int column) const;
  bool is_number(int column) const;
  /// Adds type, length and value of a column of the row to `out`.
  void append_value(int column, std::string& out) const;

 private:
  void check(int code) const;
  Database& database_;
  sqlite3_stmt* handle_ = nullptr;
  int bound_ = 0;
};

}  // namespace berth::results
