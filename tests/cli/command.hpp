#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/folder.hpp"

/// Runs the command in a shell, like a user.
namespace berth::test {

inline std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

struct Answer {
  int code = -1;
  std::string out, err;
};

/// For a shell; the text has no quotes.
inline std::string quoted(const std::string& text) { return "'" + text + "'"; }

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
