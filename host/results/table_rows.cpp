#include "host/results/table_rows.hpp"

#include <fmt/format.h>

namespace berth::results {

void TableRows::add_column(std::string_view name, Value value) {
  const char* comma = values_.empty() ? "" : ", ";
  names_ += comma;
  names_ += name;
  marks_ += fmt::format("{}?", comma);
  values_.push_back(value);
}

void TableRows::write() {
  if (!insert_) {
    insert_.emplace(database_, fmt::format("INSERT INTO {} ({}) VALUES ({})", table_, names_, marks_));
    for (const Value& value : values_) {
      if (const auto* number = std::get_if<std::int64_t>(&value)) {
        insert_->bind(*number);
      } else if (const auto* text = std::get_if<std::string_view>(&value)) {
        insert_->bind(*text);
      } else {
        insert_->bind_nothing();
      }
    }
  }
  insert_->step();
}

}  // namespace berth::results
