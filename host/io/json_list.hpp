#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace berth::io {

/// Takes a JSON document apart while it comes in pieces: the elements of one list of the outermost object, each given away as soon as it
/// is whole, and the rest with that list empty. So a document with a very long list needs no more memory than its largest element.
///
/// It follows brackets and quotes only; whoever reads the parts finds what else is wrong.
class JsonListSplitter {
 public:
  /// @param key  Of the list.
  /// @param on_element  Called with each element's text, its index, and the line on which it begins.
  using OnElement = std::function<void(const std::string& text, std::int64_t index, int line)>;
  JsonListSplitter(std::string key, OnElement on_element) : key_(std::move(key)), on_element_(std::move(on_element)) {}

  void feed(std::string_view bytes);
  /// The document without the elements, with as many lines: what was cut off stays cut off. Gives away an element that has not ended.
  const std::string& finish();

 private:
  void outside(char c);
  void inside(char c);
  void end_element(bool more_follow);

  std::string key_;
  OnElement on_element_;
  std::string rest_, element_, last_text_;
  enum class Wait : std::uint8_t { kNothing, kColon, kList } wait_ = Wait::kNothing;
  int depth_ = 0;  // of brackets open; 2 between the elements of the list
  int line_ = 1, element_line_ = 1;
  std::int64_t index_ = 0;
  bool in_text_ = false, escaped_ = false, in_list_ = false, blank_ = true, after_comma_ = false;
};

}  // namespace berth::io
