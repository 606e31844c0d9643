// Input and output of a command: standard streams, links, one file under two options.
#include "tests/cli/command.hpp"

namespace berth::test::places_test {
namespace {

// Rejected with exit code 2 and exactly this message; nothing on standard output.
void expect_refused(const std::string& arguments, const std::string& message) {
  SCOPED_TRACE(arguments);
  const Answer answer = berth(arguments);
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.out, "");
  EXPECT_TRUE(contains(answer.err, "berth: " + message)) << answer.err;
}

std::string racks(const std::string& rest) { return "plan --snapshot '" + golden("racks") + "' " + rest; }

}  // namespace

TEST(CliPlaces, StandardInputIsReadOnce) {
  const std::string once = "both name '-': standard input can be read once";
  expect_refused("plan --policy las --snapshot - --state-in -", "--snapshot and --state-in " + once);
  expect_refused("validate --snapshot - --plan -", "--snapshot and --plan " + once);
  expect_refused("explain --snapshot - --plan -", "--snapshot and --plan " + once);
  expect_refused("import pai - --cluster - --at +5 --out -", "--cluster and FILE " + once);
  expect_refused("import helios-venus - - --out -", "FILE and FILE " + once);
}

TEST(CliPlaces, StandardOutputHasOneDocument) {
  expect_refused(racks("--policy las --out - --state-out -"), "--out and --state-out both name '-'");
  expect_refused(racks("--policy las --json --state-out -"), "--json and --state-out - would mix");
  const Answer answer = berth(racks("--policy las --state-out -"));

  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.out.rfind("{\"schema\":\"berth.state.v1\"", 0), 0u) << answer.out;
  EXPECT_FALSE(contains(answer.out, "gang6"));
  EXPECT_TRUE(contains(answer.err, "gang6")) << answer.err;  // the table
}

TEST(CliPlaces, OneFileIsNotWrittenTwiceNorOverAnInput) {
  const Folder folder;
  const std::string s = folder.write("s.json", content_of(golden("racks")));
  const std::string a = folder / "a", dotted = folder / "./a", other = folder / "link";
  std::filesystem::create_symlink("a", other);

  expect_refused(racks("--policy las --out '" + a + "' --state-out '" + dotted + "'"), "--out and --state-out both name '" + dotted + "'");
  expect_refused(racks("--policy las --out '" + a + "' --state-out '" + other + "'"), "--out and --state-out both name '" + other + "'");
  expect_refused("plan --policy las --snapshot '" + s + "' --out '" + s + "'", "--out would replace '" + s + "', which --snapshot reads");
  expect_refused("plan --policy las --snapshot '" + s + "' --state-out '" + s + "'", "--state-out would replace '" + s + "'");
  EXPECT_EQ(content_of(s), content_of(golden("racks")));
  EXPECT_FALSE(std::filesystem::exists(a));
  EXPECT_EQ(berth(racks("--policy las --out /dev/null --state-out /dev/null")).code, 0);
}

TEST(CliPlaces, AnOptionGivenEmptyIsRefused) {
  const Folder folder;
  expect_refused(racks("--policy ''"), "--policy: the value is empty");
  expect_refused(racks("--policy="), "--policy");
  expect_refused(racks("--policy fifo --out ''"), "--out: the value is empty");
  expect_refused(racks("--policy fifo --state-in ''"), "--state-in: the value is empty");
  expect_refused(racks("--policy fifo --budget ''"), "--budget: the value is empty");
  expect_refused(racks("--policy fifo --param ''"), "--param: the value is empty");
  expect_refused(racks("--compare ''"), "--compare: the value is empty");
  expect_refused("plan --snapshot '' --policy fifo", "--snapshot: the value is empty");
  expect_refused("validate --snapshot '" + golden("racks") + "' --plan ''", "--plan: the value is empty");
  expect_refused("explain --snapshot s --plan p --job ''", "--job: the value is empty");
  expect_refused("policies ''", "NAME: the value is empty");
  expect_refused("generate --nodes 2 --jobs 2 --spare '' --out -", "--spare: the value is empty");
  expect_refused("import '' x --out -", "FORMAT: the value is empty");
  expect_refused("import pai '' --out -", "FILE: the value is empty");
}

TEST(CliPlaces, ALinkIsFollowedAndStays) {
  const Folder folder;
  const std::string link = folder / "link", target = folder / "target";
  std::filesystem::create_symlink("target", link);

  for (int i = 0; i < 2; ++i) {  // its target does not exist at first
    ASSERT_EQ(berth(racks("--policy fifo --no-timing --out '" + link + "'")).code, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(content_of(target), berth(racks("--policy fifo --no-timing --json")).out);
  }
}

TEST(CliPlaces, StandardInputIsCalledSo) {
  const Folder folder;
  expect_refused("validate --snapshot - <'" + folder.write("s.json", "{") + "'", "standard input:1: ");
  expect_refused("validate --snapshot - <&-", "cannot read standard input: ");
  expect_refused("import pai - --out - <'" + folder.write("t.csv", "a,b\n") + "'", "standard input:1: no column");
  const Answer answer = berth("validate --snapshot - <'" + golden("racks") + "'");
  EXPECT_EQ(answer.out.rfind("standard input: valid: ", 0), 0u) << answer.out;
}

// Otherwise the next opened file gets the number of the closed stream, and receives the output.
TEST(CliPlaces, AClosedStandardOutputIsNotTheNextFile) {
  const Folder folder;
  const std::string out = folder / "p.json";

  const Answer answer = berth(racks("--policy fifo --out '" + out + "' >&-"));

  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.err, "berth: cannot write standard output: Bad file descriptor\n");
  EXPECT_EQ(content_of(out).back(), '\n');
  EXPECT_FALSE(contains(content_of(out), "policy fifo"));
}

TEST(CliPlaces, ControlCharactersOfAValueAreShown) {
  expect_refused("policies 'a\tb\033[31m'", "unknown policy 'a\\u0009b\\u001b[31m'");
  expect_refused("validate --snapshot '/no\033x'", "cannot read '/no\\u001bx': No such file or directory");
}

}  // namespace berth::test::places_test
