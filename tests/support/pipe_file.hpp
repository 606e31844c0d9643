#pragma once

#include <unistd.h>

#include <string>
#include <string_view>

namespace berth::test {

/// A pipe with this content: a second opening finds it empty. At most some kilobytes, which a pipe holds without a reader.
class PipeFile {
 public:
  explicit PipeFile(std::string_view content) {
    int ends[2] = {-1, -1};
    ok_ = ::pipe(ends) == 0 && ::write(ends[1], content.data(), content.size()) == static_cast<ssize_t>(content.size());
    ::close(ends[1]);
    end_ = ends[0];
  }
  ~PipeFile() { ::close(end_); }
  PipeFile(const PipeFile&) = delete;
  PipeFile& operator=(const PipeFile&) = delete;

  std::string path() const { return ok_ ? "/dev/fd/" + std::to_string(end_) : "no pipe"; }

 private:
  bool ok_ = false;
  int end_ = -1;
};

}  // namespace berth::test
