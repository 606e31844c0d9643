#include "host/io/json/json_writer.hpp"

#include <fmt/format.h>

#include <utility>

#include "berth/error.hpp"
#include "host/io/json/json_cursor.hpp"

namespace berth::io {

void JsonWriter::extensions(const Extensions& x) {
  for (const auto& one : x) {
    try {
      JsonCursor in(one.second, one.first);
      in.raw();
      in.finish();
    } catch (const InputError& e) {
      throw InvalidArgument(fmt::format("the extension's value is no JSON: {}", e.what()));
    }
    key(one.first);
    raw(one.second);
  }
}

std::string JsonWriter::finish() {
  out_ += '\n';
  return take();
}

std::string JsonWriter::take() {
  if (first_invalid_utf8(out_) != out_.data() + out_.size()) throw InvalidArgument("a name is not valid UTF-8");
  std::string text;
  text.swap(out_);
  return text;
}

}  // namespace berth::io
