#include "host/io/zip_archive.hpp"

#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/zipped.hpp"

namespace berth::io {
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
  archive += "PK\x05\x06";

  EXPECT_EQ(unzip_one(archive, "s.json", "f", kMost), "content");
}

TEST(ZipArchive, EveryCutIsSeen) {
  const std::string archive = test::zipped("s.json", "some content that is a little longer");

  for (std::size_t size = 0; size < archive.size(); ++size) {
    EXPECT_NE(problem(archive.substr(0, size)), "no error") << size;
  }
}

TEST(ZipArchive, AChangedByteOfTheContentIsSeen) {
  const std::string archive = test::zipped("s.json", "some content that is a little longer");

  // The packed bytes but the last, which ends in padding.
  for (std::size_t at = 36; at + 1 < archive.find("PK\x07\x08"); ++at) {
    std::string changed = archive;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    EXPECT_NE(problem(changed), "no error") << at;
  }
}

TEST(ZipArchive, NothingAboveTheLimitIsUnpacked) {
  const std::string archive = test::zipped("s.json", std::string(100'000, 'x'));
  std::string lying = archive;  // says 10 bytes
  const std::size_t listed = lying.find("PK\x01\x02");
  lying.replace(listed + 24, 4, std::string("\x0a\0\0\0", 4));
  std::string boasting = archive;  // says 2 GB
  boasting.replace(listed + 24, 4, std::string("\0\0\0\x7f", 4));

  EXPECT_NE(problem(archive, 99'999).find("larger than 99999"), std::string::npos);
  EXPECT_NE(problem(lying).find("longer than the list says"), std::string::npos);
  EXPECT_NE(problem(boasting, std::size_t{1} << 40).find("cannot be as long"), std::string::npos);
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
  EXPECT_NE(problem(test::zipped("other.txt", "x")).find("no file '...s.json'"), std::string::npos);
}

}  // namespace berth::io
