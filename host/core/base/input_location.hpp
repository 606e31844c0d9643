#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::core {

/// A location in the input, for errors: a chain of JSON pointer tokens that costs nothing until `fail` formats it. It
/// lives on the stack; the parent and the texts must outlive it.
class InputLocation {
 public:
  /// The whole input called `file` in errors.
  explicit InputLocation(const std::string& file) : file_(&file) {}
  /// `parent`/field, or `parent`/field/index.
  InputLocation(const InputLocation& parent, std::string_view field, std::int64_t index = -1)
      : file_(parent.file_), parent_(&parent), field_(field), index_(index) {}
  /// `parent`/index.
  InputLocation(const InputLocation& parent, std::int64_t index) : InputLocation(parent, {}, index) {}

  /// @throws InputError at this location, or at one of its fields.
  [[noreturn]] void fail(const std::string& problem) const { fail_at({}, problem); }
  /// @param field  A field of this location, or a longer pointer such as "estimate/run_s".
  [[noreturn]] void fail_at(std::string_view field, const std::string& problem) const;
  std::string pointer() const;

 private:
  const std::string* file_;
  const InputLocation* parent_ = nullptr;
  std::string_view field_;
  std::int64_t index_ = -1;
};

}  // namespace berth::core
