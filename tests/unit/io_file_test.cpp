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

namespace berth::io {
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
  gzFile gz = gzopen(path("f.gz").c_str(), "wb");
  ASSERT_EQ(gzwrite(gz, content.data(), 1'000'000), 1'000'000);
  gzclose(gz);

  EXPECT_EQ(read_file(path("f.gz")), content);
}

TEST_F(File, BrokenGzipIsAnInputError) {
  gzFile gz = gzopen(path("f.gz").c_str(), "wb");
  for (long long i = 0; i < 100'000; ++i) gzprintf(gz, "%lld", i * i);
  gzclose(gz);
  fs::resize_file(path("f.gz"), fs::file_size(path("f.gz")) / 2);

  EXPECT_THROW((void)read_file(path("f.gz")), InputError);
}

TEST_F(File, MissingFileNamesTheReason) {
  try {
    (void)read_file(path("none"));
    FAIL() << "read";
  } catch (const EnvironmentError& e) {
    EXPECT_NE(std::string(e.what()).find("No such file"), std::string::npos) << e.what();
  }
  EXPECT_THROW((void)read_file(folder_.string()), EnvironmentError);
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

TEST_F(File, FolderThatIsNotThereIsReported) { EXPECT_THROW(write_file(path("none/f"), "x"), EnvironmentError); }

TEST_F(File, KeepsTheModeAndFollowsALink) {
  write_file(path("f"), "old");
  fs::permissions(path("f"), fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink(path("f"), path("link"));

  write_file(path("link"), "new");

  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("f")), "new");
  EXPECT_EQ(fs::status(path("f")).permissions(), fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
}

}  // namespace
}  // namespace berth::io
