#include "host/io/files/import_notes.hpp"

#include <fmt/format.h>

#include "host/core/base/violations.hpp"

namespace berth::io {

void ImportNotes::count(std::string_view noun, std::string_view what, std::string_view first, std::int64_t times) {
  if (times <= 0) return;
  Entry& entry = counts_[{std::string(noun), std::string(what)}];
  if (entry.times == 0) entry.first = first;
  entry.times += times;
}

std::vector<std::string> ImportNotes::lines() const {
  std::vector<std::string> out = said_;
  for (const auto& [key, entry] : counts_) {
    out.push_back(fmt::format("{}{} (first: {})", core::counted(entry.times, key.first), key.second, entry.first));
  }
  return out;
}

}  // namespace berth::io
