#include "host/core/base/input_location.hpp"

#include "berth/error.hpp"
#include "host/core/base/escape_control.hpp"

namespace berth::core {

std::string InputLocation::pointer() const {
  std::string text = parent_ == nullptr ? std::string() : parent_->pointer();
  if (!field_.empty()) text.append("/").append(field_);
  if (index_ >= 0) text.append("/").append(std::to_string(index_));
  return text;
}

void InputLocation::fail_at(std::string_view field, const std::string& problem) const {
  std::string at = pointer();
  if (!field.empty()) at.append("/").append(field);
  throw InputError(escape_control(*file_), escape_control(at), 0, escape_control(problem));
}

}  // namespace berth::core
