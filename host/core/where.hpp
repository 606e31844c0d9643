#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::core {

/// A place in the input, for errors: a chain of JSON pointer tokens that costs nothing until `fail` spells it out.
/// Lives on the stack; the parent and the texts must outlive it.
class Where {
 public:
  /// The whole input called `file` in errors.
  explicit Where(const std::string& file) : file_(&file) {}
  /// `parent`/field, or `parent`/field/index.
  Where(const Where& parent, std::string_view field, std::int64_t index = -1)
      : file_(parent.file_), parent_(&parent), field_(field), index_(index) {}
  /// `parent`/index.
  Where(const Where& parent, std::int64_t index) : Where(parent, {}, index) {}

  /// @throws InputError at this place, or at a field of it.
  [[noreturn]] void fail(const std::string& problem) const { fail_at({}, problem); }
  /// @param field  A field of this place, or a longer pointer such as "estimate/run_s".
  [[noreturn]] void fail_at(std::string_view field, const std::string& problem) const;
  std::string pointer() const;

 private:
  const std::string* file_;
  const Where* parent_ = nullptr;
  std::string_view field_;
  std::int64_t index_ = -1;
};

}  // namespace berth::core
