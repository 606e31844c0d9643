#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/results/database.hpp"

namespace berth::results {

/// Writes rows into a table; each row has the same fields, by name and value, in the same order.
class TableRows {
 public:
  TableRows(Database& database, std::string table) : database_(database), table_(std::move(table)) {}

  TableRows& number(const std::string& name, std::int64_t value) { return add(name, value); }
  /// Texts must live until `write`.
  TableRows& text(const std::string& name, std::string_view value) { return add(name, value); }
  TableRows& nothing(const std::string& name) { return add(name, {}); }
  void write();

 private:
  using Value = std::variant<std::monostate, std::int64_t, std::string_view>;
  TableRows& add(const std::string& name, Value value);

  Database& database_;
  std::string table_;
  std::string names_, marks_;  // of the first row
  std::optional<Statement> insert_;
  std::vector<Value> values_;
};

}  // namespace berth::results
