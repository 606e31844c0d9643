#include "python-free-bindings/c/src/columns.hpp"

#include <cstring>

#include "host/io/files/read_whole.hpp"

namespace berth::c {
namespace {

constexpr std::uint64_t kMaxTextBytes = std::uint64_t{1} << 36;

void check_ascending(const std::uint64_t* begin, std::size_t n, std::uint64_t most, const char* name) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i <= n; ++i) {
    if (begin[i] < last || begin[i] > most) {
      throw InvalidArgument(std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(begin[i]) + ": expected " +
                            std::to_string(last) + " to " + std::to_string(most));
    }
    last = begin[i];
  }
}

}  // namespace

Texts::Texts(const berth_texts& texts, std::size_t n, const char* name) : texts_(texts) {
  if (texts_.strings != nullptr) return;
  const std::string begin = std::string(name) + ".begin";
  if (texts_.begin == nullptr) {
    if (texts_.bytes != nullptr && n > 0) throw InvalidArgument(begin + " is null");
    return;  // all empty
  }
  check_ascending(texts_.begin, n, kMaxTextBytes, begin.c_str());
  if (texts_.bytes == nullptr && n > 0 && texts_.begin[n] > texts_.begin[0]) throw InvalidArgument(std::string(name) + ".bytes is null");
  if (texts_.bytes == nullptr) texts_.begin = nullptr;  // all empty
}

Rows::Rows(const std::uint64_t* begin, std::size_t n, std::uint64_t n_rows, const char* name) : begin_(begin) {
  if (begin != nullptr) check_ascending(begin, n, n_rows, name);
}

std::size_t checked_rows(std::uint64_t first, std::uint64_t count, std::size_t n) {
  if (first > n || count > n - first) {
    throw InvalidArgument("rows " + std::to_string(first) + " and " + std::to_string(count) + " from there on: there are " +
                          std::to_string(n));
  }
  return static_cast<std::size_t>(first);
}

std::string_view document(const char* json, std::size_t size, const char* name) {
  if (json == nullptr) throw InvalidArgument(std::string(name) + " is null");
  if (size > io::kMaxWholeBytes) {
    throw InvalidArgument(std::string(name) + " has " + std::to_string(size) + " bytes; at most " + std::to_string(io::kMaxWholeBytes));
  }
  return {json, size};
}

void give_text(std::string_view text, char** out, std::size_t* size) {
  auto* bytes = new char[text.size() + 1];
  std::memcpy(bytes, text.data(), text.size());
  bytes[text.size()] = 0;
  *out = bytes;
  if (size != nullptr) *size = text.size();
}

}  // namespace berth::c

void berth_free(void* text) { delete[] static_cast<char*>(text); }
