#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include "berth/io.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/files/gzip_output.hpp"
#include "host/io/files/links.hpp"
#include "host/io/files/write_pieces.hpp"

namespace berth::io {
namespace {

// Closes on every exit path; `close` reports errors of the system.
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

// A file size limit raises a signal that would end the process; blocked in this thread, write() reports EFBIG instead.
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
    if (n < 0) fail_file("write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(n));
  }
}

// The directory's entry must reach the disk too; where a file system cannot do that, the rename is still valid.
void sync_directory(const std::string& target) {
  const std::string folder = folder_of(target);
  const Descriptor d(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (d.get() >= 0) (void)::fsync(d.get());
}

// Creates a new file next to the target. @returns its descriptor, or -1 with errno; its path in `temporary`.
int create_next_to(const std::string& target, std::string& temporary) {
  constexpr int kTries = 1000;
  constexpr std::size_t kMostName = 200;  // the system limits names to 255 bytes
  const std::string folder = folder_of(target);
  const std::string stem = folder + target.substr(folder.size(), kMostName);
  int fd = -1;
  for (int i = 0; i < kTries; ++i) {
    temporary = fmt::format("{}.{}.{}.tmp", stem, ::getpid(), i);
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) break;
  }
  return fd;
}

// The bytes as they are given.
void write_bytes(const std::string& path, const std::function<void(const WritePiece&)>& produce) {
  if (path == "-") return produce([](std::string_view piece) { write_all(STDOUT_FILENO, piece, "standard output"); });
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {  // a device or a pipe cannot be replaced by a rename
    Descriptor out(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (out.get() < 0) fail_file("write", path, errno);
    produce([&](std::string_view piece) { write_all(out.get(), piece, path); });
    if (out.close() != 0) fail_file("write", path, errno);
    return;
  }
  const std::string target = behind_links(path);
  std::string temporary;
  Descriptor out(create_next_to(target, temporary));
  if (out.get() < 0) fail_file("write", path, errno);
  Unfinished unfinished(temporary);
  if (exists && ::fchmod(out.get(), info.st_mode & 07777) != 0) fail_file("write", path, errno);
  produce([&](std::string_view piece) { write_all(out.get(), piece, path); });
  if (::fsync(out.get()) != 0) fail_file("write", path, errno);
  if (out.close() != 0) fail_file("write", path, errno);
  if (::rename(temporary.c_str(), target.c_str()) != 0) fail_file("write", path, errno);
  unfinished.keep();
  sync_directory(target);
}

}  // namespace

void write_file(const std::string& path, std::string_view content) {
  write_file(path, [&](const WritePiece& write) { write(content); });
}

void write_file(const std::string& path, const std::function<void(const WritePiece&)>& produce) {
  if (!names_gzip(path)) return write_bytes(path, produce);
  write_bytes(path, [&](const WritePiece& write) {
    GzipOutput packed(write);
    produce([&](std::string_view piece) { packed.add(piece); });
    packed.finish();
  });
}

}  // namespace berth::io
