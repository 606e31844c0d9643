#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/io/json_cursor.hpp"
#include "host/io/json_fields.hpp"
#include "host/io/slurm_notes.hpp"
#include "host/io/slurm_records.hpp"
#include "host/io/slurm_versions.hpp"

/// Reading the JSON of Slurm's commands: plain numbers and null up to data parser v0.0.38 (22.05), {set, infinite, number} later; states
/// as a text or as a list. Fields that are not needed are skipped, whatever they hold.
namespace berth::io {

/// A number of any version; kSlurmUnset, kSlurmInfinite.
std::int64_t read_slurm_number(JsonCursor& in);
/// The end of the year 9999 in Unix seconds: no later instant is believed, and sums of them can be counted.
inline constexpr std::int64_t kSlurmLastInstant = 253'402'300'799;
/// An instant in Unix seconds, 0 when it is unset.
std::int64_t read_slurm_instant(JsonCursor& in);
/// A text; null is empty.
std::string read_slurm_text(JsonCursor& in);
/// Refuses a name that a snapshot cannot have.
void check_slurm_name(const JsonCursor& in, std::string_view name);
/// A text that becomes a name; and one of several names, of which only the characters are checked.
std::string read_slurm_name(JsonCursor& in);
std::string read_slurm_expression(JsonCursor& in);
/// A list of names, or one text with commas; empty ones are none.
std::vector<std::string> read_slurm_names(JsonCursor& in);

/// Reads the objects of one list. Slurm writes the same keys in the same order in each of them, so a key is looked up once.
template <class T>
class SlurmRows {
 public:
  explicit SlurmRows(std::span<const Field<T>> fields) : fields_(fields) {}

  /// @returns the bits of the fields that were there.
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
      if ((seen & bit) != 0) in.fail(fmt::format("the field '{}' stands here twice", key));
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

  /// The needed fields that `seen` lacks, "" when none.
  std::string missing(std::uint64_t seen) const {
    std::string names;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      if (fields_[i].required && (seen >> i & 1) == 0) names += (names.empty() ? "" : ", ") + std::string(fields_[i].name);
    }
    return names;
  }

  /// Remembers the other fields that the row called `name()` lacks. Few sets of them occur.
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
  std::map<std::uint64_t, SlurmLack> lacks_;  // by the fields that are there
};

/// The names of a hostlist expression. @param left  See expand_hostlist.
std::vector<std::string> read_slurm_hosts(JsonCursor& in, std::int64_t& left);

/// What the rows of a document lack: kept until its end, which says its version there.
struct SlurmGap {
  // The first row that lacks needed fields.
  const char* at = nullptr;
  std::string row, fields;
  // All that lack others.
  std::vector<SlurmLack> jobs{}, nodes{};
};

void read_slurm_jobs(JsonCursor& in, SlurmData& data, std::int64_t& names_left, SlurmGap& gap);
void read_slurm_nodes(JsonCursor& in, SlurmData& data, SlurmGap& gap);

/// Reads the JSON document that comes next. @throws InputError for anything but jobs, nodes or partitions of a data parser that has the
/// needed fields.
void read_slurm_document(JsonCursor& in, SlurmData& data, SlurmNotes& notes, std::int64_t& names_left);

}  // namespace berth::io
