#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::io::import_pai_test {
namespace {

using test::TempFile;

const std::string kHeader = "job_id,arrival_s,service_sec,gpu_count\n";

Trace import(const std::string& rows) {
  const TempFile file(kHeader + rows);
  return import_trace("pai", {file.path()});
}

}  // namespace

TEST(ImportPai, TimesStayThoseOfTheSourceAndTheOriginIsNotKnown) {
  const Trace trace = import("ali-1-worker#9,16670.0,172800.0,8\nali-2-ps#3,16670.0,5.0,400\n");

  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_TRUE(trace.origin_iso.empty());
  EXPECT_EQ(trace.jobs[0].id, "ali-1-worker#9");
  EXPECT_EQ(trace.jobs[0].submit_us, 16'670 * kSecond);
  EXPECT_TRUE(trace.jobs[0].clamped);
  EXPECT_EQ(trace.jobs[1].gpus, 400);
  EXPECT_NE(trace.notes.at(1).find("START"), std::string::npos);
  EXPECT_NE(trace.notes.at(2).find("rounded up"), std::string::npos);
}

TEST(ImportPai, TheHeliosSampleIsNotTakenForIt) { EXPECT_THROW(import("363167#0,0.0,172800.0,32\n"), InputError); }

TEST(ImportPai, OneFileOnly) {
  const TempFile file(kHeader);

  EXPECT_THROW(import_files("pai", {file.path(), file.path()}), InvalidArgument);
}

}  // namespace berth::io::import_pai_test
