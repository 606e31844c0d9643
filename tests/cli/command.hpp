#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// Runs the command as a person would, in a shell.
namespace berth::test {

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A folder of its own for one test, removed with everything in it.
class Folder {
 public:
  Folder() {
    std::string name = ::testing::TempDir() + "berth_cli_XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return *this / name;
  }

 private:
  std::filesystem::path path_;
};

struct Answer {
  int code = -1;
  std::string out, err;
};

/// `berth ARGUMENTS`, as a shell reads them: redirections and pipes behind it work.
inline Answer berth(const std::string& arguments) {
  const Folder folder;
  const std::string line = "{ '" BERTH_COMMAND "' " + arguments + "; } >'" + folder / "out" + "' 2>'" + folder / "err" + "' </dev/null";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(folder / "out"), content_of(folder / "err")};
}

inline std::string golden(const std::string& name) { return BERTH_SOURCE_DIR "/data/golden/" + name + "/snapshot.json"; }

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace berth::test
