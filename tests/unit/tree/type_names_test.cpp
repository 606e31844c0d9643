// A type name exists once: this finds the types that host, include and cuda define at namespace level.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/source_dir.hpp"

namespace berth::type_names_test {
namespace {

namespace fs = std::filesystem;

bool cut(std::string_view& text, std::string_view begin) {
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return true;
}

// The type that a line defines, else empty. By the project's format such a line is not indented, and nested types are.
std::string_view defined_type(std::string_view line) {
  const bool alias = cut(line, "using ");
  if (!alias && !cut(line, "struct ") && !cut(line, "class ") && !cut(line, "union ") && !cut(line, "enum class ") && !cut(line, "enum "))
    return {};
  if (cut(line, "BERTH_")) line.remove_prefix(line.find(' ') + 1);
  const std::size_t end = std::min(line.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"), line.size());
  const std::string_view name = line.substr(0, end);
  line.remove_prefix(end);
  if (alias) return line.starts_with(" =") ? name : std::string_view{};
  // Neither a declaration, nor a specialisation, nor the definition of a nested type.
  const bool declares = line.find(';') < line.find('{');
  return declares || line.starts_with("<") || line.starts_with("::") ? std::string_view{} : name;
}

using Places = std::map<std::string, std::vector<std::string>>;  // by type: FILE:LINE

void add_types(Places& places, const std::string& file, std::istream& text) {
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (const std::string_view name = defined_type(line); !name.empty())
      places[std::string(name)].push_back(file + ":" + std::to_string(number));
  }
}

std::string repeated(const Places& places) {
  std::string found;
  for (const auto& [name, where] : places) {
    if (where.size() < 2) continue;
    found += name + ":";
    for (const std::string& one : where) found += " " + one;
    found += "\n";
  }
  return found;
}

}  // namespace

TEST(TypeNames, AreDefinedOnceInTheTree) {
  const fs::path root = test::source_dir();
  Places places;
  for (const char* top : {"host", "include", "cuda"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      add_types(places, fs::relative(entry.path(), root).generic_string(), file);
    }
  }

  EXPECT_GT(places.size(), 700U);
  EXPECT_EQ(repeated(places), "");
}

TEST(TypeNames, OfDefinitionsAreFound) {
  std::istringstream text(
      "struct Row;\n"
      "struct Row {\n"
      "  struct Inner {};\n"
      "};\n"
      "class BERTH_EXPORT Table final : public Base,\n"
      "                                public Other {};\n"
      "enum class Kind : std::int32_t { kOne };\n"
      "enum class Kind : std::int32_t;\n"
      "using Row = std::vector<int>;\n"
      "using std::string;\n"
      "template <class T>\n"
      "struct Kind<T*> {};\n"
      "struct Table::Inner {};\n"
      "struct Table : Base {};\n");
  Places places;

  add_types(places, "a.hpp", text);

  EXPECT_EQ(repeated(places), "Row: a.hpp:2 a.hpp:9\nTable: a.hpp:5 a.hpp:14\n");
}

}  // namespace berth::type_names_test
