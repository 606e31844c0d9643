#include <regex>

#include "tests/cli/command.hpp"

namespace berth::test::bad_input_test {
namespace {

// Rejected with exit code 2, nothing on standard output, and `part` in the message.
void expect_refused(const std::string& arguments, const std::string& part) {
  SCOPED_TRACE(arguments);
  const Answer answer = berth(arguments);
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err.rfind("berth: ", 0), 0u) << answer.err;
  EXPECT_TRUE(contains(answer.err, part)) << answer.err;
}

std::string racks(const std::string& rest) { return "plan --snapshot '" + golden("racks") + "' " + rest; }

}  // namespace

TEST(CliBadInput, AMissingFileIsNamed) {
  expect_refused("plan --snapshot /no/such.json --policy fifo", "cannot read '/no/such.json': No such file or directory");
}

TEST(CliBadInput, ATruncatedSnapshotIsNamedWithItsLine) {
  const Folder folder;
  const std::string whole = content_of(golden("racks"));
  const std::string cut = folder.write("cut.json", whole.substr(0, whole.size() / 2));

  expect_refused("validate --snapshot '" + cut + "'", cut + ":");
}

TEST(CliBadInput, AnInconsistentSnapshotIsNamedWithItsPointer) {
  const Folder folder;
  const std::string file = folder.write("s.json", R"({"schema":"berth.snapshot.v1","now_s":0,"gpu_types":[{"id":"a"}],
"nodes":[{"id":"n","gpu_type":"b","gpus":1}],"jobs":[]})");

  expect_refused("validate --snapshot '" + file + "'", file + ":2: /nodes/0/gpu_type: ");
}

TEST(CliBadInput, AnUnknownPolicyGetsASuggestion) {
  expect_refused(racks("--policy srfs"), "did you mean 'srsf'?");
  expect_refused(racks("--policy priorty"), "did you mean 'priority'?");
  expect_refused(racks("--compare fifo,srfs"), "unknown policy 'srfs'");
  expect_refused(racks("--compare fifo"), "expected two policies");
}

TEST(CliBadInput, AnUnknownParameterGetsASuggestion) {
  expect_refused(racks("--policy fifo --param disciplin=strict"), "did you mean 'discipline'?");
  expect_refused(racks("--policy fifo --param discipline"), "expected NAME=VALUE");
  expect_refused(racks("--policy fifo --param discipline=lifo"), "lifo");
  expect_refused(racks("--policy fifo --param discipline=strict --param discipline=greedy"), "twice");
  expect_refused(racks("--compare fifo,srsf --param nothing=1"), "has no parameter 'nothing'");
}

// Zero does not mean "no limit".
TEST(CliBadInput, ALimitOfNothingIsRefused) {
  expect_refused(racks("--policy fifo --budget 0s"), "leave it out for no limit");
  expect_refused(racks("--policy fifo --max-iterations 0"), "expected a whole number from 1 to");
}

TEST(CliBadInput, CaseIsNoObstacleToASuggestion) { expect_refused(racks("--policy SRSF"), "did you mean 'srsf'?"); }

// An unknown option is more likely the mistake than a missing one that follows from it.
TEST(CliBadInput, AnUnknownOptionIsNamedBeforeAMissingOne) {
  expect_refused("plan --snaphot s.json", "unknown option '--snaphot'; did you mean '--snapshot'?");
  expect_refused(racks("--plicy fifo"), "unknown option '--plicy'; did you mean '--policy'?");
  expect_refused(racks("--plicy=fifo"), "unknown option '--plicy'; did you mean '--policy'?");
  expect_refused("version -j", "unknown option '-j'");
  expect_refused("--plicy", "unknown option '--plicy'");
  expect_refused("plan --snapshot --policy", "--policy is required");  // a file name: it is the value
}

TEST(CliBadInput, AnArgumentThatHasNoPlaceIsNamedBeforeAMissingOption) {
  expect_refused("plan demo.json", "unexpected argument 'demo.json'; did you mean '--snapshot demo.json'?");
  expect_refused("version now", "unexpected argument 'now'");
  expect_refused("policies fifo srsf", "unexpected argument 'srsf'");
}

TEST(CliBadInput, MalformedNumbersAreRefusedWithWhatIsExpected) {
  expect_refused(racks("--policy fifo --threads abc"), "--threads: expected a whole number from 0 to 1024, found 'abc'");
  expect_refused(racks("--policy fifo --max-iterations 1.5"),
                 "--max-iterations: expected a whole number from 1 to 9223372036854775807, found '1.5'");
  expect_refused("validate --snapshot s.json --max 0", "--max: expected a whole number from 1 to 1000000, found '0'");
  expect_refused("generate --nodes x --jobs 1 --out -", "--nodes: expected a whole number from 0 to 2147483647, found 'x'");
}

TEST(CliBadInput, NumbersAreChecked) {
  expect_refused(racks("--policy fifo --budget 100"), "is no duration");
  expect_refused(racks("--policy fifo --threads -1"), "--threads");
  expect_refused(racks("--policy fifo --threads many"), "--threads");
  expect_refused(racks("--policy fifo --seed 18446744073709551616"), "--seed");
  expect_refused(racks("--policy fifo --max-iterations -5"), "--max-iterations");
  expect_refused(racks("--policy fifo --max-iterations 9223372036854775808"), "--max-iterations");
  expect_refused(racks("--policy fifo --rows 1e3"), "--rows");
  expect_refused(racks("--policy fifo --backend gpu"), "--backend");
  expect_refused(racks("--policy fifo --device 0"), "--device");
  expect_refused("generate --nodes 0 --jobs 5 --out /dev/null", "nodes");
  expect_refused("generate --nodes 4 --jobs 5 --gpu-types A100-80GB:x --out /dev/null", "--gpu-types");
}

TEST(CliBadInput, PartsThatAddUpToMoreThanAllAreRefused) {
  expect_refused("generate --nodes 4 --jobs 5 --oversubscription rack=0 --out -", "expected LEVEL=RATIO above 0, such as rack=2");
  expect_refused("generate --nodes 4 --jobs 5 --oversubscription rack=2,rack=3 --out -", "'rack' is given twice");
  expect_refused("generate --nodes 4 --jobs 5 --oversubscription spine=2 --out -", "no level 'spine'; it has rack and pod");
  expect_refused("generate --nodes 4 --jobs 5 --outage 0.6 --spare 0.400001 --out -", "add up to more than 1");
  EXPECT_EQ(berth("generate --nodes 4 --jobs 5 --outage 0.6 --spare 0.4 --out /dev/null").code, 0);
}

TEST(CliBadInput, OptionsThatContradictEachOtherAreRefused) {
  expect_refused(racks("--policy fifo --compare fifo,srsf --out -"), "--compare");
  expect_refused(racks(""), "--policy is required");
  expect_refused("plan --policy fifo", "--snapshot is required");
}

TEST(CliBadInput, APlanOfOtherJobsIsRefused) {
  const Folder folder;
  ASSERT_EQ(berth(racks("--policy fifo --out '" + folder / "p.json" + "'")).code, 0);

  expect_refused("explain --snapshot '" + golden("quotas") + "' --plan '" + folder / "p.json" + "'", folder / "p.json");
}

TEST(CliBadInput, APlanOfAnotherSnapshotIsDetected) {
  const Folder folder;
  const std::string plan = folder / "p.json";
  ASSERT_EQ(berth(racks("--policy fifo --out '" + plan + "'")).code, 0);
  const std::string other = std::regex_replace(content_of(golden("racks")), std::regex("\"now_s\": *([0-9]+)"), "\"now_s\": 1$1");
  ASSERT_NE(other, content_of(golden("racks")));

  expect_refused("validate --snapshot '" + golden("quotas") + "' --plan '" + plan + "'", "is this plan of another snapshot?");
  expect_refused("explain --snapshot '" + folder.write("other.json", other) + "' --plan '" + plan + "'",
                 plan + ": no valid plan of " + folder / "other.json");
}

TEST(CliBadInput, AnInvalidPlanIsNotExplained) {
  const Folder folder;
  const std::string whole = berth(racks("--policy priority --json")).out;
  const std::string broken = std::regex_replace(whole, std::regex("\"node\":\"n2\""), "\"node\":\"n0\"");
  ASSERT_NE(broken, whole);
  const std::string files = "explain --snapshot '" + golden("racks") + "' --plan '" + folder.write("p.json", broken) + "'";

  expect_refused(files, "job gang6: ");
  expect_refused(files + " --job gang6", "is it of another snapshot, or was it changed?");
}

TEST(CliBadInput, AFullDiskIsReported) {
  for (const std::string& arguments :
       {racks("--policy fifo --json >/dev/full"), racks("--policy fifo --out /dev/full"), racks("--policy fifo --state-out /dev/full"),
        std::string("policies >/dev/full"), std::string("plan --help >/dev/full"),
        std::string("generate --nodes 2 --jobs 2 --out - >/dev/full")}) {
    SCOPED_TRACE(arguments);
    const Answer answer = berth(arguments);
    EXPECT_EQ(answer.code, 2);
    EXPECT_TRUE(contains(answer.err, "No space left on device")) << answer.err;
  }
}

TEST(CliBadInput, AFailedWriteLeavesTheOldFile) {
  const Folder folder;
  const std::string plan = folder.write("p.json", "old");

  const Answer answer = berth("version >/dev/null; ulimit -f 0; '" BERTH_COMMAND "' " + racks("--policy fifo --out '" + plan + "'"));

  EXPECT_EQ(answer.code, 2) << answer.err;
  EXPECT_EQ(content_of(plan), "old");
}

}  // namespace berth::test::bad_input_test
