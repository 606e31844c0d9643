#include "host/io/files/links.hpp"

#include <unistd.h>

#include <cerrno>
#include <climits>

#include "host/io/files/file_error.hpp"

namespace berth::io {

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

std::string behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // the limit of the system
  std::string at = path;
  std::string link(PATH_MAX, '\0');
  for (int i = 0; i < kMostLinks; ++i) {
    const ssize_t n = ::readlink(at.c_str(), link.data(), link.size());
    if (n < 0) return at;
    const std::string to = link.substr(0, static_cast<std::size_t>(n));
    at = (to[0] == '/' ? std::string() : folder_of(at)).append(to);
  }
  fail_file("write", path, ELOOP);
}

}  // namespace berth::io
