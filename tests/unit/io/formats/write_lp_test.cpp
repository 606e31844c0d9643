// A choice of options as text in CPLEX LP format.

#include "host/io/formats/write_lp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>

namespace berth::write_lp_test {
namespace {

std::string lp_of(const core::ShapeProgram& program) {
  std::string text;
  io::write_lp(program, [&](std::string_view piece) { text += piece; });
  return text;
}

// Job "a" on one or two GPUs of either type, job "b" on one of the second.
core::ShapeProgram two_jobs() {
  core::ShapeProgram p;
  p.policy = "price";
  p.objective = "goodput";
  p.capacity = {4, 2};
  p.option_begin = {0, 2, 3};
  p.type = {0, 1, 1};
  p.gpus = {1, 2, 1};
  p.value = {10, -3, 7};
  p.type_id = {"V100", "A100"};
  p.job_id = {"a", "b"};
  p.shape_id = {"one", "two", "one"};
  return p;
}

}  // namespace

TEST(WriteLp, HasAVariableForEachShapeOfEachJob) {
  EXPECT_EQ(lp_of(two_jobs()),
            R"(\ What policy price chooses among, by the objective goodput: a variable is 1 when the job takes the shape.
\ x0_0: job "a", shape "one", 1 x "V100"
\ x0_1: job "a", shape "two", 2 x "A100"
\ x1_0: job "b", shape "one", 1 x "A100"
Maximize
 value:
 + 10 x0_0
 - 3 x0_1
 + 7 x1_0
Subject To
\ At most one shape of a job.
 job0:
 + x0_0
 + x0_1
 <= 1
 job1:
 + x1_0
 <= 1
\ GPUs of type "V100".
 type0:
 + 1 x0_0
 <= 4
\ GPUs of type "A100".
 type1:
 + 2 x0_1
 + 1 x1_0
 <= 2
Binary
 x0_0
 x0_1
 x1_0
End
)");
}

TEST(WriteLp, NamesNeverLeaveTheirComment) {
  core::ShapeProgram p = two_jobs();
  p.job_id[0] = "\n + 5 x9 \\ \t\x7f\xc2\x85 \"End\" \r\nEnd";
  p.shape_id[0] = std::string(1'024, 'e');
  for (int i = 0; i < 500; ++i) p.shape_id[1] += "\xc3\xa9";
  p.type_id[0] = std::string(1'024, '\n');

  const std::string text = lp_of(p);

  std::istringstream lines(text);
  std::string statements, whole;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 255u);
    if (line.rfind("\\ ", 0) != 0) statements += line + "\n";
    if (line.rfind("\\ ", 0) == 0) whole += line.substr(2);
  }
  std::istringstream plain(lp_of(two_jobs()));
  std::string want;
  for (std::string line; std::getline(plain, line);) want += line.rfind("\\ ", 0) == 0 ? "" : line + "\n";
  EXPECT_EQ(statements, want);
  EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < 0x20 && c != '\n') || c == 0x7f; }));
  EXPECT_NE(whole.find(p.shape_id[0]), std::string::npos);
  EXPECT_NE(whole.find(p.shape_id[1]), std::string::npos);
}

TEST(WriteLp, NothingToChooseIsAProgramToo) {
  core::ShapeProgram p;
  p.policy = "sia";
  p.objective = "sia";
  p.capacity = {8};
  p.option_begin = {0};
  p.type_id = {"V100"};

  EXPECT_EQ(lp_of(p).substr(lp_of(p).find("Maximize")), "Maximize\n value: 0 none\nSubject To\n nothing: none <= 0\nEnd\n");
}

}  // namespace berth::write_lp_test
