#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/files/gzip_input.hpp"
#include "host/io/files/read_whole.hpp"
#include "host/io/json/json_token_cap.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kFileChunk = std::size_t{1} << 18;

// Reads a file up to the limit. An oversized file is reported as such even where memory is too short to hold it.
class Content {
 public:
  explicit Content(const std::string& name) : name_(name) {}

  void expect(std::size_t size) {
    check(size);
    if (size > 0) keep([&] { text_.reserve(size); });
  }
  void add(std::string_view part) {
    check(size_ += part.size());
    keep([&] { text_.append(part); });
  }
  std::string take() {
    if (memory_is_short_) throw std::bad_alloc();
    return std::move(text_);
  }

 private:
  void check(std::size_t size) const {
    if (size > kMaxWholeBytes) throw InputError(name_, "", 0, "larger than 512 MiB (after unpacking)");
  }
  template <class Act>
  void keep(Act&& act) {
    if (memory_is_short_) return;
    try {
      act();
    } catch (const std::bad_alloc&) {
      memory_is_short_ = true;
      std::string().swap(text_);
    }
  }

  const std::string& name_;
  std::string text_;
  std::size_t size_ = 0;
  bool memory_is_short_ = false;
};

}  // namespace

std::string read_file(const std::string& path) {
  GzipInput input(path);
  return read_whole(input);
}

std::string read_whole(GzipInput& input) {
  Content content(input.name());
  content.expect(input.size());
  const auto chunk = std::make_unique<char[]>(kFileChunk);
  const char first = input.peek();
  const bool json = std::string_view("{[\"\xef\0", 5).find(first) != std::string_view::npos;  // or too early to say
  JsonTokenCap tokens(input.name());
  while (const std::size_t n = input.read(chunk.get(), kFileChunk)) {
    if (json) tokens.feed({chunk.get(), n});
    content.add({chunk.get(), n});
  }
  return content.take();
}

}  // namespace berth::io
