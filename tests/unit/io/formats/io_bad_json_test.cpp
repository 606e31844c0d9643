// Texts that are no JSON, or whose fields are not a snapshot's.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/io/formats/io_support.hpp"

namespace berth::io::io_bad_json_test {
namespace {

TEST(BadJson, EmptyFileIsNamed) {
  expect_refused("", 1, "", "the file is empty");
  expect_refused(" \n\n", 1, "", "the file is empty");
}

TEST(BadJson, EveryTruncationIsRefused) {
  const std::string whole = with_jobs(job(R"(, "x_note": {"a": [1, true, null, "é\u00e9"]})"));
  ASSERT_NO_THROW((void)parse_snapshot(whole, "f.json"));
  const std::size_t end = whole.find_last_of('}');

  for (std::size_t n = 0; n <= end; ++n) {
    EXPECT_THROW((void)parse_snapshot(whole.substr(0, n), "f.json"), InputError) << "cut after " << n << " bytes";
  }
}

TEST(BadJson, TruncationNamesTheLine) {
  const std::string whole = with_jobs(job());
  expect_refused(whole.substr(0, whole.find("submit_s") + 11), 5, "/jobs/0/submit_s", "the file ends");
}

TEST(BadJson, TrailingGarbageIsRefused) {
  expect_refused(with_jobs(job()) + "{}", 7, "", "an object");
  expect_refused(with_jobs(job()) + "]", 7, "", "]");
}

TEST(BadJson, DuplicateKeysAreRefused) {
  expect_refused(with_jobs(job(R"(, "submit_s": 2)")), 5, "/jobs/0/submit_s", "duplicate field");
  expect_refused(with_jobs(job(R"(, "x_a": 2, "x_a": 3)")), 5, "/jobs/0/x_a", "duplicate field");
  expect_refused(with_jobs(job(R"(, "constraints": {"labels": {"a": "1", "a": "2"}})")), 5, "/jobs/0/constraints/labels/a",
                 "duplicate field");
}

TEST(BadJson, UnknownFieldNamesTheNearest) {
  expect_refused(with_jobs(job(R"(, "prioritiy": 2)")), 5, "/jobs/0/prioritiy", "unknown field 'prioritiy'; did you mean 'priority'?");
  expect_refused(with_jobs(job(R"(, "zzzzzzzz": 2)")), 5, "/jobs/0/zzzzzzzz", "unknown field 'zzzzzzzz'");
  expect_refused(with_jobs(job(R"(, "estimate": {"x_a": 2})")), 5, "/jobs/0/estimate/x_a", "unknown field 'x_a'");
}

TEST(BadJson, MissingFieldIsNamed) {
  expect_refused(with_jobs(job() + ",\n{\"id\": \"k\", \"gpus\": 1}"), 6, "/jobs/1", "'submit_s' is missing");
  expect_refused(with_jobs("{\"id\": \"k\", \"submit_s\": 1}"), 5, "/jobs/0", "'shapes'");
  expect_refused("{}", 1, "", "'schema' is missing");
}

TEST(BadJson, AnotherSchemaIsRefused) {
  expect_refused(R"({"schema": "berth.snapshot.v2", "now_s": 0, "gpu_types": [], "nodes": [], "jobs": []})", 1, "/schema",
                 "berth.snapshot.v2");
}

TEST(BadJson, WrongTypesAreRefused) {
  expect_refused(with_jobs(job(R"(, "priority": "high")")), 5, "/jobs/0/priority", "expected an integer, not \"high\"");
  expect_refused(with_jobs(job(R"(, "priority": 1.5)")), 5, "/jobs/0/priority", "1.5");
  expect_refused(with_jobs(job(R"(, "user": 7)")), 5, "/jobs/0/user", "expected a string, not 7");
  expect_refused(with_jobs(job(R"(, "sharing": 1)")), 5, "/jobs/0/sharing", "1");
  expect_refused(with_jobs(job(R"(, "sharing": truth)")), 5, "/jobs/0/sharing", "truth");
  expect_refused(with_jobs(job(R"(, "deadline": [1])")), 5, "/jobs/0/deadline", "expected an object, not a list");
  expect_refused(with_jobs(job(R"(, "allocation": null)")), 5, "/jobs/0/allocation", "null");
  expect_refused(with_jobs(job(R"(, "kind": "trainnig")")), 5, "/jobs/0/kind", "training, service, batch_inference");
  expect_refused("[]", 1, "", "expected an object");
}

TEST(BadJson, NumbersThatAreNoneAreRefused) {
  for (const char* value : {"NaN", "Infinity", "-Infinity", "+1", "01", ".5", "1.", "1e", "0x10", "--1", "-", "1_000"}) {
    expect_refused(with_jobs(job(R"(, "time_limit_s": )" + std::string(value))), 5, "/jobs/0/time_limit_s", value);
  }
}

TEST(BadJson, NumbersBeyondTheirRangeAreRefused) {
  expect_refused(with_jobs(job(R"(, "time_limit_s": 1e400)")), 5, "/jobs/0/time_limit_s", "1e400 is too large");
  expect_refused(with_jobs(job(R"(, "time_limit_s": 1)" + std::string(400, '0'))), 5, "/jobs/0/time_limit_s", "is too large");
  expect_refused(with_jobs(job(R"(, "time_limit_s": -3)")), 5, "/jobs/0/time_limit_s", "-3 is not within 0 to");
  expect_refused(with_jobs(job(R"(, "time_limit_s": 9223372036854.775807)")), 5, "/jobs/0/time_limit_s", "9223372036854.775807");
  expect_refused(with_jobs(job(R"(, "time_limit_s": 1.0000001)")), 5, "/jobs/0/time_limit_s", "more than 6 digits");
  expect_refused(with_jobs(job(R"(, "constraints": {"memory_bytes_per_gpu": -1})")), 5, "/jobs/0/constraints/memory_bytes_per_gpu", "-1");
  expect_refused(with_jobs(R"({"id": "j", "submit_s": 1, "gpus": 9223372036854775808})"), 5, "/jobs/0/gpus", "9223372036854775808");
  expect_refused(with_jobs(R"({"id": "j", "submit_s": 1, "shapes": [{"gpus": 18446744073709551624}]})"), 5, "/jobs/0/shapes/0/gpus",
                 "18446744073709551624");
}

TEST(BadJson, DeepNestingIsRefused) {
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  try {
    (void)parse_snapshot(with_jobs(job(R"(, "x_deep": )" + deep)), "f.json");
    FAIL() << "accepted";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("nested deeper than 64"), std::string::npos) << e.what();
    EXPECT_LT(std::string(e.what()).size(), 1000u);
  }
  expect_refused(std::string(1'000'000, '['), 1, "", "expected an object");
}

TEST(BadJson, HugeStringsAreRefusedWithAShortMessage) {
  const std::string huge(1'000'000, 'a');
  expect_refused(with_jobs(job("", huge)), 5, "/jobs/0/id", "a text of 1000000 bytes");
  try {
    (void)parse_snapshot(with_jobs(job(", \"" + huge + "\": 1")), "f.json");
    FAIL() << "accepted";
  } catch (const InputError& e) {
    EXPECT_LT(std::string(e.what()).size(), 1000u);
  }
}

TEST(BadJson, InvalidUtf8NamesTheLine) {
  for (const char* bytes : {"\xFF", "\xC3", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xC0\xAF"}) {
    expect_refused(with_jobs(job() + ",\n" + job("", bytes)), 6, "", "not valid UTF-8");
  }
  expect_refused("{\n\"a\xFF\"", 2, "", "byte 5 of the file (0xff) is not valid UTF-8");
}

TEST(BadJson, BrokenStringsAreRefused) {
  expect_refused(with_jobs(job("", "a\\q")), 5, "/jobs/0/id", "unknown escape");
  expect_refused(with_jobs(job("", "a\\ud800x")), 5, "/jobs/0/id", "surrogate");
  expect_refused(with_jobs(job("", "a\\u12g4")), 5, "/jobs/0/id", "hexadecimal");
  expect_refused(with_jobs(job("", "a\tb")), 5, "/jobs/0/id", "control character");
  expect_refused(with_jobs(job("", "a\\u0000b")), 5, "/jobs/0/id", "control character");
  expect_refused(with_jobs(job("", "")), 5, "/jobs/0/id", "must not be empty");
}

TEST(BadJson, EscapesAreDecoded) {
  const Snapshot s = parse_snapshot(with_jobs(job("", R"(a\"\\\/\u00e9\ud83d\ude00)")), "f.json");

  EXPECT_EQ(s.jobs[0].id, "a\"\\/\xC3\xA9\xF0\x9F\x98\x80");
}

TEST(BadJson, NumbersAreExact) {
  const Snapshot s = parse_snapshot(
      with_jobs(job(R"(, "time_limit_s": 8589934592.000001, "estimate": {"run_s": 1e-06, "p50_s": 1.2500000, "p90_s": 2.5E+3})")),
      "f.json");

  EXPECT_EQ(s.jobs[0].time_limit_us, 8'589'934'592'000'001);
  EXPECT_EQ(s.jobs[0].estimate.run_us, 1);
  EXPECT_EQ(s.jobs[0].estimate.p50_us, 1'250'000);
  EXPECT_EQ(s.jobs[0].estimate.p90_us, 2'500'000'000);
}

TEST(BadJson, AByteOrderMarkIsSkipped) { EXPECT_NO_THROW((void)parse_snapshot("\xEF\xBB\xBF" + with_jobs(job()), "f.json")); }

}  // namespace
}  // namespace berth::io::io_bad_json_test
