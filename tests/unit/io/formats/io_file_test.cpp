#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::io::io_file_test {
namespace {

namespace fs = std::filesystem;

class File : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string made = (fs::temp_directory_path() / "berth-file-XXXXXX").string();
    ASSERT_NE(::mkdtemp(made.data()), nullptr);
    folder_ = made;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

  void put(const std::string& name, const std::string& content) const { std::ofstream(path(name), std::ios::binary) << content; }
  std::string refusal(const std::string& file) const {
    try {
      (void)read_file(file);
    } catch (const Error& e) {
      return e.what();
    }
    return "read";
  }

  fs::path folder_;
};

TEST_F(File, ReadsBackWhatWasWritten) {
  const std::string content("a\0b\n", 4);
  write_file(path("f"), "old and longer");
  write_file(path("f"), content);

  EXPECT_EQ(read_file(path("f")), content);
  EXPECT_EQ(files(), 1);
}

TEST_F(File, UnpacksGzip) {
  const std::string content(1'000'000, 'x');
  put("f.gz", test::gzipped(content));

  EXPECT_EQ(read_file(path("f.gz")), content);
}

TEST_F(File, BrokenGzipIsAnInputError) {
  gzFile gz = gzopen(path("f.gz").c_str(), "wb");
  for (long long i = 0; i < 100'000; ++i) gzprintf(gz, "%lld", i * i);
  gzclose(gz);
  fs::resize_file(path("f.gz"), fs::file_size(path("f.gz")) / 2);

  EXPECT_THROW((void)read_file(path("f.gz")), InputError);
}

TEST_F(File, GzipMembersThatFollowOneAnotherAreOneText) {
  const std::string content(300'000, 'x');
  std::string packed = test::gzipped("{\n") + test::gzipped("") + test::gzipped(content) + test::gzipped("}\n");
  put("f.gz", packed);

  EXPECT_EQ(read_file(path("f.gz")), "{\n" + content + "}\n");
}

TEST_F(File, WhatFollowsGzipDataIsRefused) {
  const std::string whole = test::gzipped("{}");
  for (const std::string& junk : {std::string("x"), std::string("{}"), std::string(64, '\0'), std::string("\x1f"), whole.substr(0, 5)}) {
    put("f.gz", whole + junk);
    EXPECT_THROW((void)read_file(path("f.gz")), InputError) << junk;
  }
}

TEST_F(File, GzipErrorsNameTheFileAndTheCause) {
  std::string flipped = test::gzipped(std::string(1'000, 'x'));
  flipped[flipped.size() - 6] ^= 1;  // the checksum
  put("f.gz", flipped);
  put("cut.gz", flipped.substr(0, 12));

  EXPECT_EQ(refusal(path("f.gz")), path("f.gz") + ": damaged gzip stream: incorrect data check");
  EXPECT_EQ(refusal(path("cut.gz")), path("cut.gz") + ": the gzip stream ends too early");
}

TEST_F(File, ReadsFilesWithoutContent) {
  put("f", "");
  put("g", "\x1f");  // half of the bytes that identify gzip

  EXPECT_EQ(read_file(path("f")), "");
  EXPECT_EQ(read_file(path("g")), "\x1f");
}

TEST_F(File, LargerThanTheLimitIsRefusedUnread) {
  put("f", "{");
  fs::resize_file(path("f"), (std::uintmax_t{512} << 20) + 1);  // a sparse file takes no space

  EXPECT_EQ(refusal(path("f")), path("f") + ": larger than 512 MiB (after unpacking)");
}

TEST_F(File, MissingFileNamesTheReason) {
  EXPECT_EQ(refusal(path("none")), "cannot read '" + path("none") + "': No such file or directory");
  EXPECT_EQ(refusal(folder_.string()), "cannot read '" + folder_.string() + "': Is a directory");
}

TEST_F(File, FullDeviceIsReported) {
  try {
    write_file("/dev/full", "text");
    FAIL() << "written";
  } catch (const EnvironmentError& e) {
    EXPECT_NE(std::string(e.what()).find("No space left"), std::string::npos) << e.what();
  }
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(File, SizeLimitLeavesTheOldFileAndNoOther) {
  write_file(path("f"), "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small = before;
  small.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);

  EXPECT_THROW(write_file(path("f"), std::string(100'000, 'x')), EnvironmentError);

  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(read_file(path("f")), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(File, FolderThatIsNotThereIsReported) {
  try {
    write_file(path("none/f"), "x");
    FAIL() << "written";
  } catch (const EnvironmentError& e) {
    EXPECT_EQ(std::string(e.what()), "cannot write '" + path("none/f") + "': No such file or directory");
  }
}

TEST_F(File, ALongNameIsWritten) {
  const std::string name(255, 'n');  // the longest that a file system allows

  write_file(path(name), "x");

  EXPECT_EQ(read_file(path(name)), "x");
  EXPECT_EQ(files(), 1);
}

TEST_F(File, KeepsTheModeAndFollowsALink) {
  write_file(path("f"), "old");
  fs::permissions(path("f"), fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink(path("f"), path("link"));

  write_file(path("link"), "new");

  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("f")), "new");
  EXPECT_EQ(fs::status(path("f")).permissions(), fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
}

TEST_F(File, WritesWhatALinkPointsToAlsoBeforeItIsThere) {
  fs::create_directory(path("there"));
  fs::create_symlink("there/second", path("first"));  // relative to the folder of the link
  fs::create_symlink(path("there/f"), path("there/second"));

  write_file(path("first"), "new");
  write_file(path("first"), "newer");

  EXPECT_TRUE(fs::is_symlink(path("first")) && fs::is_symlink(path("there/second")));
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(path("there/f"))));
  EXPECT_EQ(read_file(path("there/f")), "newer");
  EXPECT_EQ(files(), 2);
}

TEST_F(File, LinksInACircleAreReported) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));

  EXPECT_THROW(write_file(path("a"), "x"), EnvironmentError);
  EXPECT_EQ(files(), 2);
}

}  // namespace
}  // namespace berth::io::io_file_test
