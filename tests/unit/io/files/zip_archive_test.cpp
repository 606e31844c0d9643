#include "host/io/files/zip_archive.hpp"

#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/zipped.hpp"

namespace berth::io::zip_archive_test {
namespace {

constexpr std::size_t kMost = 1'000'000;

std::string problem(const std::string& archive, std::size_t most = kMost) {
  return test::problem_of([&] { unzip_one(archive, "s.json", "f", most); });
}

}  // namespace

TEST(ZipArchive, TheOneFileIsUnpacked) {
  const std::string content = std::string(5'000, 'a') + "end";

  EXPECT_EQ(unzip_one(test::zipped("folder/s.json", content), "s.json", "f", kMost), content);
  EXPECT_TRUE(is_zip(test::zipped("s.json", "")));
  EXPECT_FALSE(is_zip("{}"));
}

TEST(ZipArchive, ACommentBehindTheListIsNoHarm) {
  std::string archive = test::zipped("s.json", "content");
  archive[archive.size() - 2] = 4;

  EXPECT_EQ(unzip_one(archive + "note", "s.json", "f", kMost), "content");
  EXPECT_NE(problem(archive + "PK\x05\x06").find("cut off"), std::string::npos);  // looks like the end of a list
}

TEST(ZipArchive, EveryCutIsSeen) {
  const std::string archive = test::zipped("s.json", "some content that is a little longer");

  for (std::size_t size = 0; size < archive.size(); ++size) {
    EXPECT_NE(problem(archive.substr(0, size)), "no error") << size;
  }
}

TEST(ZipArchive, AChangedByteNeverChangesTheContent) {
  const std::string content = "some content that is a little longer", archive = test::zipped("s.json", content);
  const std::size_t end = archive.find("PK\x07\x08");

  // The last two packed bytes hold the mark of the end and padding, which the checksum does not need.
  for (std::size_t at = 36; at < end; ++at) {
    std::string changed = archive;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const std::string found = problem(changed);
    if (found == "no error") {
      EXPECT_GE(at + 2, end);
      EXPECT_EQ(unzip_one(changed, "s.json", "f", kMost), content) << at;
    }
  }
}

TEST(ZipArchive, NothingAboveTheLimitIsUnpacked) {
  const std::string archive = test::zipped("s.json", std::string(100'000, 'x'));
  std::string locality = archive;  // says 10 bytes
  const std::size_t listed = locality.find("PK\x01\x02");
  locality.replace(listed + 24, 4, std::string("\x0a\0\0\0", 4));
  std::string boasting = archive;  // says 2 GB
  boasting.replace(listed + 24, 4, std::string("\0\0\0\x7f", 4));

  EXPECT_NE(problem(archive, 99'999).find("larger than 99999"), std::string::npos);
  EXPECT_NE(problem(locality).find("longer than the list says"), std::string::npos);
  EXPECT_NE(problem(boasting, std::size_t{1} << 40).find("not as long"), std::string::npos);
}

TEST(ZipArchive, WhatIsNotReadIsNamed) {
  const std::string archive = test::zipped("s.json", "content");
  const std::size_t listed = archive.find("PK\x01\x02");
  std::string encrypted = archive, method = archive, away = archive;
  encrypted[listed + 8] = 9;
  method[listed + 10] = 12;
  away[listed + 42] = 1;

  EXPECT_NE(problem(encrypted).find("encrypted"), std::string::npos);
  EXPECT_NE(problem(method).find("method 12"), std::string::npos);
  EXPECT_NE(problem(away).find("does not stand where"), std::string::npos);
  EXPECT_NE(problem(std::string("PK\x05\x06") + std::string(18, '\0')).find("empty"), std::string::npos);
  EXPECT_NE(problem(test::zipped("other.txt", "x")).find("no file '...s.json'"), std::string::npos);
}

}  // namespace berth::io::zip_archive_test
