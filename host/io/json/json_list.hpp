#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "host/io/json/json_token_cap.hpp"

namespace berth::io {

/// Splits a JSON document that arrives in parts. The elements of one list of the outermost object are passed on as soon as they are
/// complete. What remains is the document with that list empty.
/// So a document with a very long list needs no more memory than its largest element.
///
/// It follows only brackets and quotes; the readers of the parts find all other errors.
class JsonListSplitter {
 public:
  /// @param key         Of the list.
  /// @param on_element  Called with the text of each element, its index, and the line on which it begins.
  /// @param name        Of the file, for errors.
  using OnElement = std::function<void(const std::string& text, std::int64_t index, int line)>;
  JsonListSplitter(std::string key, OnElement on_element, std::string name = "")
      : key_(std::move(key)), name_(name), on_element_(std::move(on_element)), tokens_(std::move(name)) {}

  /// @throws InputError for a token over kMostTokenBytes, an element over kMostElementBytes, or a rest over kMostRestBytes.
  void feed(std::string_view bytes);
  /// The document without the elements, with the same number of lines. A truncated document stays truncated.
  /// Passes on an element that has not ended.
  const std::string& finish();

  static constexpr std::size_t kMostElementBytes = std::size_t{64} << 20, kMostRestBytes = std::size_t{512} << 20;

 private:
  void outside(char c);
  void inside(char c);
  void end_element(bool more_follow);

  std::string key_, name_;
  OnElement on_element_;
  JsonTokenCap tokens_;
  std::string rest_, element_, last_text_;
  enum class Wait : std::uint8_t { kNothing, kColon, kList } wait_ = Wait::kNothing;
  int depth_ = 0;  // number of open brackets; 2 between the elements of the list
  int line_ = 1, element_line_ = 1;
  std::int64_t index_ = 0;
  bool in_text_ = false, escaped_ = false, in_list_ = false, blank_ = true, after_comma_ = false;
};

}  // namespace berth::io
