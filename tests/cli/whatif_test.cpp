#include <fstream>

#include "tests/cli/command.hpp"

namespace berth::test::whatif_test {
namespace {

const std::string kWhatIf = "whatif --policy fifo --snapshot " + quoted(golden("guarantees"));
const std::string kRoom = "whatif --policy fifo --snapshot " + quoted(golden("make-room"));

struct Refusal {
  const char* arguments;
  const char* problem;
};

std::string edits_file(const Folder& folder, const std::string& edits) {
  const std::string path = folder / "edits.json";
  std::ofstream(path) << R"({"schema": "berth.edits.v1", "edits": [)" << edits << "]}";
  return path;
}

}  // namespace

// n1 holds a1 and a2; the plan gives the GPUs of a2 to b0. On a node that drains nothing starts: a0 leaves, though it is the oldest of A.
TEST(CliWhatIf, TheTextIsExact) {
  const Answer answer = berth(kWhatIf + " --param discipline=greedy --drain n1");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.out, R"(fifo@discipline=greedy: what if drain n1

PLAN       BEFORE  AFTER  CHANGE
gpus_used  16      12     -4

JOB  EFFECT          BEFORE   AFTER    START  WHERE
a2   runs on         preempt  keep     -      n1[4-7]
a0   preempted       keep     preempt  -      -
b0   goes elsewhere  start    start    -      n0[0-3]

QUEUE  GPUS BEFORE  AFTER  CHANGE
A      12           8      -4

a0: displaced by job b0: queue B is entitled to 8 GPUs, and its jobs before that have 0; jobs of queue A borrow 8
)");
}

TEST(CliWhatIf, AJobIsTriedBeforeItIsSubmitted) {
  const Answer starts = berth(kWhatIf + " --job 4x1h@B");
  EXPECT_TRUE(contains(starts.out, "new-job  new        -       start    -      n1[0-3]\n")) << starts.out << starts.err;
  const Answer later = berth(kWhatIf + " --param discipline=conservative --param quotas=limits --job 8x30m@A:H");
  EXPECT_TRUE(contains(later.out, "new-job  new     -       reserve in 2 h")) << later.out << later.err;
  EXPECT_TRUE(contains(later.out, "\nnew-job: needs 8 GPUs; ")) << later.out;
}

// 'never' asks for 12 GPUs of one rack; racks have 8.
TEST(CliWhatIf, ARackIsAdded) {
  const std::string racks = "whatif --policy fifo --param discipline=greedy --snapshot " + quoted(golden("racks"));
  const Answer rack = berth(racks + " --cancel gang8 --add 2x4xa100@rack:r2 --add 1x4xa100@rack:r2");
  EXPECT_TRUE(contains(rack.out, "never  starts  reject  start  -      new-node-1[0-3] new-node-2[0-3] new-node-3[0-3]\n")) << rack.out;
  const Answer known = berth(racks + " --add 2x4xa100@rack:r1");
  EXPECT_TRUE(contains(known.out, "gang8  starts               wait    start  -      n2[0-3] new-node-1[0-3]\n")) << known.out;
}

// In a file each edit may name new racks; two of them the same one.
TEST(CliWhatIf, EditsOfAFileAddRacks) {
  const Folder folder;
  const std::string path = edits_file(folder, R"({"name": "rack", "cancel": ["gang8"], "add": ["3x4xa100@rack:r2"]},
    {"name": "small", "cancel": ["gang8"], "add": ["2x4xa100@rack:r2"]}, {"name": "other", "add": ["3x4xa100@rack:r3"]})");
  const std::string racks = "whatif --policy fifo --param discipline=greedy --snapshot " + quoted(golden("racks"));
  const Answer rack = berth(racks + " --show rack --edits " + quoted(path));
  EXPECT_TRUE(contains(rack.out, "never  starts  reject  start  -      new-node-1[0-3] new-node-2[0-3] new-node-3[0-3]\n"))
      << rack.out << rack.err;
  const Answer small = berth(racks + " --show small --edits " + quoted(path));
  EXPECT_FALSE(contains(small.out, "never  starts")) << small.out << small.err;
  EXPECT_TRUE(contains(berth(racks + " --edits " + quoted(edits_file(folder, R"({"name": "x", "add": ["1x4xa100@rack:"]})"))).err,
                       "edits.json:1: /edits/0: add: "));
}

// In another rack a new node has no part in the NVLink domain of the node that it is like.
TEST(CliWhatIf, ANewRackIsInNoOtherDomain) {
  const Folder folder;
  const std::string path = folder / "nvlink.json";
  std::ofstream(path) << R"({"schema": "berth.snapshot.v1", "now_s": 10, "gpu_types": [{"id": "a"}],
    "domains": [{"id": "r0", "level": "rack"}, {"id": "d0", "level": "nvl", "topology": "nvlink"}],
    "nodes": [{"id": "n0", "gpu_type": "a", "gpus": 4, "domains": {"switch": "r0", "nvlink": "d0"}}],
    "jobs": [{"id": "gang", "submit_s": 0, "shapes": [{"id": "8", "gpus": 8,
      "groups": [{"name": "w", "members": 8, "require": {"topology": "nvlink", "level": "nvl"}}]}]}]})";
  const std::string command = "whatif --policy fifo --snapshot " + quoted(path);
  const Answer there = berth(command + " --add 1x4xa");
  EXPECT_TRUE(contains(there.out, "gang  starts")) << there.out << there.err;
  const Answer rack = berth(command + " --add 1x4xa@rack:r9");
  EXPECT_EQ(rack.code, 0) << rack.err;
  EXPECT_FALSE(contains(rack.out, "gang  starts")) << rack.out;
}

TEST(CliWhatIf, NodesQuotasPrioritiesAndPoliciesAreEdited) {
  const Answer bigger = berth(kWhatIf + " --add 2x8xH");
  EXPECT_TRUE(contains(bigger.out, "gpus       16      32     +16\n")) << bigger.out << bigger.err;
  EXPECT_TRUE(contains(bigger.out, "new-node-1[0-3]")) << bigger.out;
  const Answer smaller = berth(kWhatIf + " --remove n1");
  EXPECT_TRUE(contains(smaller.out, "a1   preempted      keep    wait")) << smaller.out << smaller.err;
  const Answer quota = berth(kWhatIf + " --quota B=0 --quota B.limit=none:H");
  EXPECT_TRUE(contains(quota.out, "b0   waits instead")) << quota.out << quota.err;
  const std::string by_factor = berth(kWhatIf + " --json --quota A=x2 --quota B=x0.5").out;
  const std::string by_number = berth(kWhatIf + " --json --quota A=16 --quota B=4").out;
  EXPECT_EQ(by_factor.substr(by_factor.find("\"after\"")), by_number.substr(by_number.find("\"after\"")));
  EXPECT_TRUE(contains(by_factor, "\"after\"")) << by_factor;
  const Answer first = berth(kWhatIf + " --priority b1=7 --new-policy priority@quotas=limits");
  EXPECT_TRUE(contains(first.out, "fifo -> priority@quotas=limits: what if priority b1=7, policy priority@quotas=limits\n")) << first.out;
}

TEST(CliWhatIf, EachEditOfAFileIsAnsweredAlone) {
  const Folder folder;
  const std::string path = edits_file(folder, R"({"name": "bigger", "add": ["1x8xH"]},
    {"name": "gone", "deltas": [{"op": "remove_job", "job": "a0", "status": "completed"}]},
    {"name": "bigger again", "add": ["1x8xH"], "policy": "srsf@discipline=easy", "job": ["2x10m@B"]})");
  const Answer table = berth(kWhatIf + " --edits " + quoted(path));
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(contains(table.out, "fifo: 3 edits; 16 of 16 GPUs in use without them\n")) << table.out;
  EXPECT_TRUE(contains(table.out, "20 of 24     +4\n")) << table.out;
  EXPECT_TRUE(contains(table.out, "12 of 16     -4\n")) << table.out;
  const Answer one = berth(kWhatIf + " --show gone --edits " + quoted(path));
  EXPECT_TRUE(contains(one.out, "a0   gone            keep     -")) << one.out << one.err;
  const Answer json = berth(kWhatIf + " --json --edits " + quoted(path));
  EXPECT_TRUE(contains(json.out, R"({"job":"a0","effect":"gone","before":{"action":"keep","gpus":8,)")) << json.out;
  EXPECT_TRUE(contains(json.out, R"("policy":"srsf","params":{"discipline":"easy"})")) << json.out;
  // Alone it is the same answer.
  const Answer alone = berth(kWhatIf + " --json --cancel a0");
  const std::string row = R"("jobs":[)"
                          "\n"
                          R"({"job":"a2","effect":"runs_on")";
  EXPECT_TRUE(contains(json.out, row) && contains(alone.out, row)) << alone.out;
}

TEST(CliWhatIf, JobsMoveToMakeRoom) {
  const Answer room = berth(kRoom + " --param discipline=conservative --make-room big");
  EXPECT_EQ(room.code, 0) << room.err;
  EXPECT_EQ(room.out, R"(fifo@discipline=conservative: make room for big

Without moves it starts in 1 h: needs 8 GPUs on one node; best node has 6 left: n1; 11 free in all after this plan.
It starts now on n1[0-7] if 1 job moves, at a cost of 60 GPU-seconds.

JOB  FROM     TO       COST  GPU-SECONDS
b    n1[0-1]  n0[4-5]  30 s  60
)");
  const Answer none = berth(kWhatIf + " --make-room b1");
  EXPECT_TRUE(contains(none.out, "No set of moves was found: ")) << none.out << none.err;
  EXPECT_TRUE(contains(berth(kWhatIf + " --json --make-room b1").out, R"("found":false)"));
  EXPECT_TRUE(contains(berth(kWhatIf + " --make-room b0").out, "There is room for it on n1[4-7] without a move.\n"));
}

TEST(CliWhatIf, BadQuestionsAreRefused) {
  const Refusal refusals[] = {
      {"", "no question is given"},
      {" --drain n9", "--drain: no node 'n9'; did you mean 'n0'?"},
      {" --drain rack:r1", "--drain: no node 'rack:r1', and no level 'rack'"},
      {" --drain n0 --remove n0", "--remove: 'n0': node 'n0' is drained, too"},
      {" --quota A=x", "--quota: 'A=x': expected a factor such as x2 or x1.5"},
      {" --quota A=x1.", "--quota: 'A=x1.': expected a factor such as x2 or x1.5"},
      {" --quota A=x-1", "--quota: 'A=x-1': expected a factor such as x2 or x1.5"},
      {" --quota A=x0.00000000000000000000000000000000000000000000000000000000000000000", "expected a factor such as x2 or x1.5"},
      {" --quota A.lending=x2", "--quota: 'A.lending=x2': queue 'A' states no lending to multiply"},
      {" --quota A=x2 --quota A=x2", "this figure is given twice"},
      {" --quota A.limt=4", "expected guarantee, limit, borrowing or lending after the queue"},
      {" --quota A=4 --quota A.guarantee=5", "this figure is given twice"},
      {" --quota A=-1", "expected a whole number of GPUs"},
      {" --quota A=4:K", "--quota: no GPU type 'K'"},
      {" --quota A.lending=4", "leave out `lending`"},
      {" --quota C=4", "--quota: no queue 'C'; did you mean 'A'?"},
      {" --job 4x1h@C", "--job: no queue 'C'; did you mean 'A'?"},
      {" --job 4x1q", "--job: '4x1q': expected GPUSxTIME"},
      {" --job 4x1h@A:", "--job: no GPU type ''"},
      {" --job 0x1h@A", "expected GPUSxTIME"},
      {" --job 4x99999999999999999999h@A", "expected GPUSxTIME"},
      {" --cancel b7", "--cancel: no job 'b7'; did you mean 'b0'?"},
      {" --cancel b0 --cancel b0", "--cancel: 'b0' is given twice"},
      {" --cancel b0 --priority b0=4", "--priority: job 'b0' is cancelled, too"},
      {" --priority b0=4.5", "expected JOB=N with a whole number"},
      {" --priority b0", "expected JOB=N"},
      {" --new-policy srs", "--new-policy: no policy 'srs'; did you mean 'srsf'?"},
      {" --new-policy srsf@discipline", "expected NAME@PARAM=VALUE"},
      {" --new-policy srsf@discipline=fast", "--new-policy: "},
      {" --add 4x8xHH", "--add: no GPU type 'HH'; did you mean 'H'?"},
      {" --add 4x80xH", "0 to 64 GPUs"},
      {" --add 4x8", "expected NODESxGPUSxTYPE"},
      {" --add 4x8xH@r1", "--add: no level 'r1'"},
      {" --add 4x8xH@rack:r1", "--add: no level 'rack'"},
      {" --add 4x8xH@", "--add: no level ''"},
      {" --show a", "--show needs --edits"},
      {" --make-room b7", "--make-room: no job 'b7'; did you mean 'b0'?"},
      {" --make-room a0", "job 'a0' runs"},
      {" --make-room b1 --cancel b0", "--make-room is a question of its own"},
  };
  for (const Refusal& one : refusals) {
    const Answer answer = berth(kWhatIf + one.arguments);
    EXPECT_EQ(answer.code, 2) << one.arguments << answer.out;
    EXPECT_TRUE(contains(answer.err, one.problem)) << one.arguments << ": " << answer.err;
    EXPECT_EQ(answer.out, "") << one.arguments;
  }
}

TEST(CliWhatIf, BadFilesAreRefusedWithTheirPlace) {
  const Refusal refusals[] = {
      {R"({"name": "a", "drain": ["n9"]})", "edits.json:1: /edits/0: drain: no node 'n9'; did you mean 'n0'?"},
      {R"({"name": "a"}, {"name": "a"})", "/edits/1: two edits have the name 'a'"},
      {R"({"drain": ["n1"]})", "the field 'name' is missing"},
      {R"({"name": "a", "drian": ["n1"]})", "unknown field 'drian'"},
      {R"({"name": "a", "drain": "n1"})", "expected a list"},
      {R"({"name": "a", "drain": [""]})", "the text is empty"},
      {R"({"name": "", "drain": ["n1"]})", "the text is empty"},
      {R"({"name": "a", "policy": "fifo@x=1"})", "policy: "},
      {R"({"name": "a", "deltas": [{"op": "remove_job"}]})", "'remove_job' needs the field 'job'"},
      {R"({"name": "a", "deltas": [{"op": "remove_node", "node": "n0"}]})", "edit 'a': /0/node: node 'n0' still runs job 'a0'"},
  };
  for (const Refusal& one : refusals) {
    const Folder folder;
    const Answer answer = berth(kWhatIf + " --edits " + quoted(edits_file(folder, one.arguments)));
    EXPECT_EQ(answer.code, 2) << one.arguments << answer.out;
    EXPECT_TRUE(contains(answer.err, one.problem)) << one.arguments << ": " << answer.err;
  }
  const Folder folder;
  const std::string path = quoted(edits_file(folder, R"({"name": "gone", "cancel": ["a0"]})"));
  const Answer unknown = berth(kWhatIf + " --show gon --edits " + path);
  EXPECT_TRUE(contains(unknown.err, "did you mean 'gone'?")) << unknown.err;
  EXPECT_TRUE(contains(berth(kWhatIf + " --cancel a0 --edits " + path).err, "--edits: edits are in the file or on the command line"));
}

// An argument with control characters does not steer the terminal.
TEST(CliWhatIf, MessagesEscapeWhatTheyRepeat) {
  const Answer answer = berth(kWhatIf + " --cancel \"$(printf 'x\\033[31m%0200d' 1)\"");
  EXPECT_EQ(answer.code, 2);
  EXPECT_FALSE(contains(answer.err, "\x1b")) << answer.err;
  EXPECT_LT(answer.err.size(), 300U) << answer.err;
}

}  // namespace berth::test::whatif_test
