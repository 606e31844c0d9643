#include "host/io/files/gzip_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>

#include "berth/error.hpp"
#include "host/io/files/file_error.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kReadChunk = std::size_t{1} << 16;
constexpr std::size_t kMagic = 2;  // bytes that identify gzip

bool is_gzip(const char* p) { return static_cast<unsigned char>(p[0]) == 0x1f && static_cast<unsigned char>(p[1]) == 0x8b; }

}  // namespace

struct GzipInput::Gzip {
  z_stream stream{};
  bool done = false;  // after the last member

  Gzip() {
    constexpr int kWindow = 15, kGzipOnly = 16;
    if (inflateInit2(&stream, kWindow + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Gzip() { inflateEnd(&stream); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
};

GzipInput::GzipInput(const std::string& path)
    : name_(input_name(path)), fd_(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) fail_file("read", name_, errno);
  try {
    raw_ = std::make_unique<char[]>(kReadChunk);
    struct stat info {};
    const bool regular = ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
    while (end_ < kMagic && fill()) {
    }
    if (end_ >= kMagic && is_gzip(raw_.get())) {
      gzip_ = std::make_unique<Gzip>();
    } else if (regular && path != "-") {  // standard input may begin in the middle of a file
      size_ = static_cast<std::size_t>(info.st_size);
    }
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

GzipInput::~GzipInput() { ::close(fd_); }

// Appends bytes to those not read yet. @returns false at the end of the file.
bool GzipInput::fill() {
  std::memmove(raw_.get(), raw_.get() + at_, end_ - at_);
  end_ -= at_;
  at_ = 0;
  for (;;) {
    const ssize_t n = ::read(fd_, raw_.get() + end_, kReadChunk - end_);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail_file("read", name_, errno);
    end_ += static_cast<std::size_t>(n);
    return n > 0;
  }
}

char GzipInput::peek() {
  const auto first = [&] { return ahead_.find_first_not_of(" \t\r\n"); };
  std::size_t at = first();
  for (char c = 0; at == std::string::npos && ahead_.size() < kReadChunk && next(&c, 1) == 1; at = first()) ahead_ += c;
  return at == std::string::npos ? '\0' : ahead_[at];
}

std::size_t GzipInput::read(char* to, std::size_t most) {
  if (ahead_.empty()) return next(to, most);
  const std::size_t n = ahead_.copy(to, most);
  ahead_.erase(0, n);
  return n;
}

std::size_t GzipInput::next(char* to, std::size_t most) {
  if (most == 0) return 0;
  if (gzip_) return unpack(to, std::min<std::size_t>(most, UINT_MAX));
  if (at_ == end_ && !fill()) return 0;
  const std::size_t n = std::min(most, end_ - at_);
  std::memcpy(to, raw_.get() + at_, n);
  at_ += n;
  return n;
}

std::size_t GzipInput::unpack(char* to, std::size_t most) {
  z_stream& z = gzip_->stream;
  z.next_out = reinterpret_cast<Bytef*>(to);
  z.avail_out = static_cast<uInt>(most);
  while (!gzip_->done && z.avail_out == most) {
    if (at_ == end_ && !fill()) damaged("the gzip stream ends too early");
    z.next_in = reinterpret_cast<Bytef*>(raw_.get() + at_);
    z.avail_in = static_cast<uInt>(end_ - at_);
    const int code = inflate(&z, Z_NO_FLUSH);
    at_ = end_ - z.avail_in;
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_STREAM_END) {
      gzip_->done = !another_member();
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      damaged(fmt::format("damaged gzip stream: {}", z.msg == nullptr ? "needs a dictionary" : z.msg));
    }
  }
  return most - z.avail_out;
}

// Members may follow each other; no other data may follow.
bool GzipInput::another_member() {
  while (end_ - at_ < kMagic && fill()) {
  }
  if (at_ == end_) return false;
  if (end_ - at_ < kMagic || !is_gzip(raw_.get() + at_)) damaged("what follows the gzip data is no gzip data");
  inflateReset(&gzip_->stream);
  return true;
}

void GzipInput::damaged(const std::string& problem) const { throw InputError(name_, "", 0, problem); }

}  // namespace berth::io
