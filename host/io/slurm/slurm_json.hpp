#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/files/import_notes.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/json/json_fields.hpp"
#include "host/io/slurm/slurm_records.hpp"
#include "host/io/slurm/slurm_versions.hpp"

/// Reads the JSON of Slurm's commands. Data parsers up to v0.0.38 (22.05) write plain numbers and null.
/// Later ones write {set, infinite, number}. States are a text or a list. Unused fields are skipped, whatever they contain.
namespace berth::io {

/// A number in the format of any version; kSlurmUnset, kSlurmInfinite.
std::int64_t read_slurm_number(JsonCursor& in);
/// The end of the year 9999 in Unix seconds. Later instants are ignored, so that sums cannot overflow.
inline constexpr std::int64_t kSlurmLastInstant = 253'402'300'799;
/// An instant in Unix seconds, 0 when it is unset.
std::int64_t read_slurm_instant(JsonCursor& in);
/// A text; null is empty.
std::string read_slurm_text(JsonCursor& in);
/// Rejects a name that is invalid in a snapshot.
void check_slurm_name(const JsonCursor& in, std::string_view name);
/// A text that becomes a name; or one of several names, of which only the characters are checked.
std::string read_slurm_name(JsonCursor& in);
std::string read_slurm_expression(JsonCursor& in);
/// A list of names, or a comma-separated text; empty names are skipped.
std::vector<std::string> read_slurm_names(JsonCursor& in);

/// Reads the objects of one list. Slurm writes the same keys in the same order in each, so a key is looked up only once.
template <class T>
class SlurmRows {
 public:
  explicit SlurmRows(std::span<const Field<T>> fields) : fields_(fields) {}

  /// @returns the bits of the fields that were present.
  std::uint64_t read(JsonCursor& in, T& out) {
    std::uint64_t seen = 0;
    std::size_t position = 0;
    in.object([&](std::string_view key) {
      const int field = find(key, position++);
      if (field < 0) {
        in.raw();
        return;
      }
      const std::uint64_t bit = std::uint64_t{1} << field;
      if ((seen & bit) != 0) in.fail(fmt::format("duplicate field '{}'", key));
      seen |= bit;
      fields_[static_cast<std::size_t>(field)].read(in, out);
    });
    return seen;
  }

  bool has(std::uint64_t seen, std::string_view name) const {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i].name == name) return (seen >> i & 1) != 0;
    }
    return false;
  }

  /// The required fields missing in `seen`, "" when none.
  std::string missing(std::uint64_t seen) const {
    std::string names;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i].required && (seen >> i & 1) == 0) names += (names.empty() ? "" : ", ") + std::string(fields_[i].name);
    }
    return names;
  }

  /// Records the other fields missing in the row called `name()`. Few different sets of them occur.
  template <class Name>
  void note_lack(std::uint64_t seen, Name&& name) {
    SlurmLack& lack = lacks_[seen];
    if (lack.rows++ > 0) return;
    lack.first = name();
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (!fields_[i].required && (seen >> i & 1) == 0) lack.fields.push_back(fields_[i].name);
    }
  }
  std::vector<SlurmLack> lacks() const {
    std::vector<SlurmLack> out;
    for (const auto& one : lacks_) out.push_back(one.second);
    return out;
  }

 private:
  int find(std::string_view key, std::size_t position) {
    if (position < order_.size() && order_[position].key == key) return order_[position].field;
    int field = static_cast<int>(fields_.size()) - 1;
    while (field >= 0 && fields_[static_cast<std::size_t>(field)].name != key) --field;
    if (position < order_.size()) order_[position] = {std::string(key), field};
    if (position == order_.size()) order_.push_back({std::string(key), field});
    return field;
  }

  struct Seen {
    std::string key;
    int field;
  };
  std::span<const Field<T>> fields_;
  std::vector<Seen> order_;
  std::map<std::uint64_t, SlurmLack> lacks_;  // by the fields that are present
};

/// The names of a hostlist expression. @param left  See expand_hostlist.
std::vector<std::string> read_slurm_hosts(JsonCursor& in, std::int64_t& left);

/// Fields missing in the rows of a document, kept until its end, where its version is.
struct SlurmGap {
  // The first row without required fields.
  const char* at = nullptr;
  std::string row, fields;
  // All rows without other fields.
  std::vector<SlurmLack> jobs{}, nodes{};
};

void read_slurm_jobs(JsonCursor& in, SlurmData& data, std::int64_t& names_left, SlurmGap& gap);
void read_slurm_nodes(JsonCursor& in, SlurmData& data, SlurmGap& gap);

/// Reads the next JSON document.
/// @throws InputError for anything but jobs, nodes or partitions of a data parser with the required fields.
void read_slurm_document(JsonCursor& in, SlurmData& data, ImportNotes& notes, std::int64_t& names_left);

}  // namespace berth::io
