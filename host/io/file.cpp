#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "berth/error.hpp"
#include "berth/io.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kMostBytes = std::size_t{512} << 20;
constexpr unsigned kChunk = 1u << 18;

[[noreturn]] void fail(const std::string& path, const char* what, int error) {
  throw EnvironmentError(fmt::format("{}: cannot {}: {}", path, what, std::generic_category().message(error)));
}

struct CloseGz {
  void operator()(gzFile_s* f) const { gzclose(f); }
};

// Closes on every way out; `close` tells what the system says.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd);
  }

 private:
  int fd_;
};

// Removes a file that was not renamed into place.
class Unfinished {
 public:
  explicit Unfinished(std::string path) : path_(std::move(path)) {}
  ~Unfinished() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  void keep() { path_.clear(); }

 private:
  std::string path_;
};

// A file-size limit answers with a signal that would end the process; blocked in this thread, write() reports EFBIG instead.
class SizeSignalBlocked {
 public:
  SizeSignalBlocked() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGXFSZ) == 1;
    sigemptyset(&signal_);
    sigaddset(&signal_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~SizeSignalBlocked() {
    const timespec now{0, 0};
    if (!was_pending_) {
      while (sigtimedwait(&signal_, nullptr, &now) > 0) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SizeSignalBlocked(const SizeSignalBlocked&) = delete;
  SizeSignalBlocked& operator=(const SizeSignalBlocked&) = delete;

 private:
  sigset_t signal_, before_;
  bool was_pending_ = false;
};

void write_all(int fd, std::string_view content, const std::string& path) {
  const SizeSignalBlocked blocked;
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path, "write", errno);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
}

// The directory's entry must reach the disk too; where a file system cannot do that, the rename still stands.
void sync_directory(const std::string& target) {
  const std::size_t slash = target.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  const Descriptor d(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (d.get() >= 0) (void)::fsync(d.get());
}

// A link is followed: what it points to is replaced, not the link.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::string(real.get()) : path;
}

// Creates a new file next to the target. @returns its descriptor, or -1 with errno; its path in `beside`.
int create_beside(const std::string& target, std::string& beside) {
  constexpr int kTries = 1000;
  int fd = -1;
  for (int i = 0; i < kTries; ++i) {
    beside = fmt::format("{}.{}.{}.tmp", target, ::getpid(), i);
    fd = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) break;
  }
  return fd;
}

}  // namespace

std::string read_file(const std::string& path) {
  const std::string shown = path == "-" ? "standard input" : path;
  const int fd = path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(shown, "open", errno);
  Descriptor guard(fd);
  struct stat info {};
  if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) fail(shown, "read", EISDIR);
  const std::unique_ptr<gzFile_s, CloseGz> gz(::gzdopen(::dup(fd), "rb"));
  if (!gz) throw EnvironmentError(fmt::format("{}: cannot read: out of memory", shown));
  gzbuffer(gz.get(), kChunk);
  std::string content;
  if (S_ISREG(info.st_mode) && info.st_size > 0) content.reserve(std::min(static_cast<std::size_t>(info.st_size) + 1, kMostBytes));
  for (;;) {
    const std::size_t had = content.size();
    content.resize(had + kChunk);
    const int n = gzread(gz.get(), content.data() + had, kChunk);
    if (n < 0) {
      int code = 0;
      const char* why = gzerror(gz.get(), &code);
      if (code == Z_ERRNO) fail(shown, "read", errno);
      throw InputError(shown, "", 0, fmt::format("broken gzip data: {}", why));
    }
    content.resize(had + static_cast<std::size_t>(n));
    if (content.size() > kMostBytes) throw InputError(shown, "", 0, "larger than 512 MiB (after unpacking)");
    if (n == 0) break;
  }
  // A gzip file that ends too early reads like one that ended; only closing tells.
  int code = 0;
  const char* why = gzerror(gz.get(), &code);
  if (code == Z_BUF_ERROR) throw InputError(shown, "", 0, fmt::format("broken gzip data: {}", why));
  return content;
}

void write_file(const std::string& path, std::string_view content) {
  if (path == "-") return write_all(STDOUT_FILENO, content, "standard output");
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {  // a device or a pipe cannot be replaced by a rename
    Descriptor out(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (out.get() < 0) fail(path, "open", errno);
    write_all(out.get(), content, path);
    if (out.close() != 0) fail(path, "write", errno);
    return;
  }
  const std::string target = exists ? resolved(path) : path;
  std::string beside;
  Descriptor out(create_beside(target, beside));
  if (out.get() < 0) fail(path, "create a file beside it", errno);
  Unfinished unfinished(beside);
  if (exists && ::fchmod(out.get(), info.st_mode & 07777) != 0) fail(path, "set the mode", errno);
  write_all(out.get(), content, path);
  if (::fsync(out.get()) != 0) fail(path, "sync", errno);
  if (out.close() != 0) fail(path, "write", errno);
  if (::rename(beside.c_str(), target.c_str()) != 0) fail(path, "rename", errno);
  unfinished.keep();
  sync_directory(target);
}

}  // namespace berth::io
