#include <zlib.h>

#include "tests/cli/command.hpp"

namespace berth::test {
namespace {

const char* const kRows = "job_id,arrival_s,service_sec,gpu_count\nali-1-w#1,100.0,50.0,4\nali-3-w#3,120.0,500.0,8\n";

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string packed(const Folder& folder, const std::string& name, const std::string& content) {
  const gzFile out = ::gzopen((folder / name).c_str(), "wb");
  ::gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
  ::gzclose(out);
  return folder / name;
}

}  // namespace

TEST(CliImport, WhatWasImportedIsReadAgain) {
  const Folder folder;
  const std::string csv = folder.write("pai.csv", kRows), trace = folder / "t.json", instant = " --cluster 2x4 --at +130 --out ";
  ASSERT_EQ(berth("import pai " + quoted(csv) + " --out " + quoted(trace)).code, 0);
  const std::string gz = packed(folder, "t.json.gz", content_of(trace));

  const Answer direct = berth("import pai " + quoted(csv) + instant + "-");
  const Answer again = berth("import trace " + quoted(trace) + instant + "-");
  const Answer unpacked = berth("import trace " + quoted(gz) + instant + "-");
  const Answer rewritten = berth("import trace " + quoted(trace) + " --out -");

  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(direct.out, "ali-3-w#3")) << direct.out;
  EXPECT_EQ(again.out, direct.out);
  EXPECT_EQ(unpacked.out, direct.out);
  EXPECT_EQ(rewritten.out, content_of(trace));
}

TEST(CliImport, ABadTraceIsNamedWithItsPointer) {
  const Folder folder;
  const std::string file = folder.write("t.json", R"({"schema":"berth.trace.v1","jobs":[{"id":"a","submit_s":0,"run_s":0,"gpus":1}]})");

  const Answer bad = berth("import trace " + quoted(file) + " --out -");
  const Answer two = berth("import trace " + quoted(file) + " " + quoted(file) + " --out -");

  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.err, file + ":1: /jobs/0/run_s: ")) << bad.err;
  EXPECT_EQ(two.code, 2);
  EXPECT_TRUE(contains(two.err, "one file")) << two.err;
}

}  // namespace berth::test
