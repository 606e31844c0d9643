#include "host/core/where.hpp"

#include "berth/error.hpp"
#include "host/core/visible.hpp"

namespace berth::core {

std::string Where::pointer() const {
  std::string text = parent_ == nullptr ? std::string() : parent_->pointer();
  if (!field_.empty()) text.append("/").append(field_);
  if (index_ >= 0) text.append("/").append(std::to_string(index_));
  return text;
}

void Where::fail_at(std::string_view field, const std::string& problem) const {
  std::string at = pointer();
  if (!field.empty()) at.append("/").append(field);
  throw InputError(visible(*file_), visible(at), 0, visible(problem));
}

}  // namespace berth::core
