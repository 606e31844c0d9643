#include "tests/cli/command.hpp"

namespace berth::test::shadow_test {
namespace {

// A node of 8 GPUs; the job waits, or runs since 40 s.
std::string state(int now_s, bool runs) {
  return R"({"schema": "berth.snapshot.v1", "now_s": )" + std::to_string(now_s) +
         R"(, "origin": "2026-03-01T00:00:00", "gpu_types": [{"id": "A"}], "nodes": [{"id": "n", "gpu_type": "A", "gpus": 8}],)"
         R"( "jobs": [{"id": "j", "submit_s": 0, "gpus": 8)" +
         (runs
              ? R"(, "state": "running", "progress": {"run_s": 300}, "allocation": {"shape": "8", "entries": [{"node": "n", "gpus": [0, 1, 2, 3, 4, 5, 6, 7]}]})"
              : "") +
         "}]}";
}

}  // namespace

TEST(CliShadow, ReportsWhatStartsEarlier) {
  const Folder folder;
  folder.write("0.json", state(0, false));
  folder.write("1.json", state(3600, true));

  const Answer text = berth("shadow --policy fifo '" + (folder / "0.json") + "' '" + (folder / "1.json") + "'");
  const Answer json = berth("shadow --json --policy fifo '" + (folder / "0.json") + "' '" + (folder / "1.json") + "'");

  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "fifo on 2 recorded states, 2026-03-01T00:00:00 to 2026-03-01T01:00:00 (1 h)"));
  EXPECT_TRUE(contains(text.out, "j    8     2026-03-01T00:00:00  2026-03-01T00:55:00  55 min  n[0-7]"));
  EXPECT_TRUE(contains(text.out, "GPU-hours in use: really 0.7, by the plans 8.0, of 8.0"));
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_TRUE(contains(
      json.out, R"({"kind":"earlier","job":"j","gpus":8,"planned_s":0,"really_s":3300,"planned_where":"n[0-7]","really_where":"n[0-7]"})"));
}

TEST(CliShadow, StandardInputIsReadOnce) {
  const Answer answer = berth("shadow --policy fifo - -");

  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "both name '-': standard input can be read once")) << answer.err;
}

TEST(CliShadow, RefusesStatesThatDoNotFollow) {
  const Folder folder;
  folder.write("0.json", state(0, false));
  folder.write("1.json", state(3600, true));

  const Answer answer = berth("shadow --policy fifo '" + (folder / "1.json") + "' '" + (folder / "0.json") + "'");

  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "0.json: the state is of an earlier instant than the one before it"));
}

}  // namespace berth::test::shadow_test
