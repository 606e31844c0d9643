#include "host/io/input_kind.hpp"

#include "host/io/input_bytes.hpp"

namespace berth::io {

bool begins_json(const std::string& path) {
  if (path == "-") return false;
  InputBytes input(path);
  for (char c = 0; input.read(&c, 1) == 1;) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') return c == '{';
  }
  return false;
}

}  // namespace berth::io
