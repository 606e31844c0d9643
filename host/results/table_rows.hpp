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

  TableRows& number(std::string_view name, std::int64_t value) {
    insert_ ? insert_->bind(value) : add_column(name, value);
    return *this;
  }
  /// Texts must live until `write`.
  TableRows& text(std::string_view name, std::string_view value) {
    insert_ ? insert_->bind(value) : add_column(name, value);
    return *this;
  }
  TableRows& nothing(std::string_view name) {
    insert_ ? insert_->bind_nothing() : add_column(name, {});
    return *this;
  }
  void write();

 private:
  using Value = std::variant<std::monostate, std::int64_t, std::string_view>;
  void add_column(std::string_view name, Value value);

  Database& database_;
  std::string table_;
  std::string names_, marks_;
  std::vector<Value> values_;        // of the first row
  std::optional<Statement> insert_;  // later rows are bound at once
};

}  // namespace berth::results
