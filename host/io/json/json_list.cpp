#include "host/io/json/json_list.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"

namespace berth::io {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

}  // namespace

void JsonListSplitter::feed(std::string_view bytes) {
  tokens_.feed(bytes);
  for (const char c : bytes) {
    if (in_list_)
      inside(c);
    else
      outside(c);
    if (c == '\n') ++line_;
  }
  if (element_.size() > kMostElementBytes)
    throw InputError(name_, fmt::format("/{}/{}", key_, index_), element_line_,
                     fmt::format("an element of more than {} MiB", kMostElementBytes >> 20));
  if (rest_.size() > kMostRestBytes)
    throw InputError(name_, "", line_, fmt::format("more than {} MiB before or behind '{}'", kMostRestBytes >> 20, key_));
}

// Outside of the list: looks for `"key": [`.
void JsonListSplitter::outside(char c) {
  rest_ += c;
  if (in_text_) {
    if (!escaped_ && c == '"') {
      in_text_ = false;
      wait_ = depth_ == 1 && last_text_ == key_ ? Wait::kColon : Wait::kNothing;
      return;
    }
    // A longer text cannot be the key and is not stored.
    if (last_text_.size() <= key_.size()) last_text_ += c;
    escaped_ = !escaped_ && c == '\\';
    return;
  }
  if (is_blank(c)) return;
  if (c == '"') {
    in_text_ = true;
    last_text_.clear();
  } else if (c == '{' || c == '[') {
    ++depth_;
    if (c == '[' && wait_ == Wait::kList) {
      in_list_ = blank_ = true;
      after_comma_ = false;
      element_.clear();
    }
  } else if (c == '}' || c == ']') {
    --depth_;
  }
  wait_ = c == ':' && wait_ == Wait::kColon ? Wait::kList : Wait::kNothing;
}

void JsonListSplitter::inside(char c) {
  if (c == '\n') rest_ += c;
  if (in_text_) {
    if (!escaped_ && c == '"') in_text_ = false;
    escaped_ = !escaped_ && c == '\\';
  } else if (c == '"') {
    in_text_ = true;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (depth_ == 2 && (c == ',' || c == ']')) {
    if (c == ']' && blank_ && !after_comma_ && index_ == 0) {
      // an empty list
    } else {
      end_element(c == ',');
    }
    if (c == ']') {
      rest_ += c;
      --depth_;
      in_list_ = false;
    }
    return;
  } else if (c == '}' || c == ']') {
    --depth_;
  }
  if (blank_ && is_blank(c)) return;
  if (blank_) element_line_ = line_;
  blank_ = false;
  element_ += c;
}

void JsonListSplitter::end_element(bool more_follow) {
  on_element_(element_, index_++, blank_ ? line_ : element_line_);
  element_.clear();
  blank_ = true;
  after_comma_ = more_follow;
}

const std::string& JsonListSplitter::finish() {
  if (in_list_ && !blank_) end_element(false);
  return rest_;
}

}  // namespace berth::io
