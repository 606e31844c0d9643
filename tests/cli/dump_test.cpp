#include "host/cli/base/dump.hpp"

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "tests/cli/command.hpp"

namespace berth::test::dump_test {
namespace {

Request odd_request() {
  Request request;
  request.policy = "srsf";
  request.params = {{"discipline", "strict"}};
  request.backend = Backend::kReference;
  request.seed = 18'446'744'073'709'551'615u;
  request.max_iterations = 3;
  return request;
}

}  // namespace

TEST(CliDump, TheBundleRepeatsTheDecision) {
  const Folder folder;
  const ClusterState state(io::parse_snapshot(content_of(golden("racks"))));
  PolicyState before;
  before.policy = "srsf";

  cli::dump_decision(folder / "bundle", state, before, odd_request(), "no such thing");

  const std::string error = content_of(folder / "bundle/error.txt");
  EXPECT_TRUE(contains(error, "no such thing\n"));
  const std::string command = cli::replay_command(odd_request(), true);
  EXPECT_TRUE(contains(error, command)) << error;
  const Answer direct = berth(
      "plan --snapshot '" + golden("racks") +
      "' --policy srsf --param discipline=strict --seed 18446744073709551615 --max-iterations 3 --backend reference --json --no-timing");
  ASSERT_EQ(direct.code, 0) << direct.err;
  const std::string arguments = command.substr(command.find(' '));
  const Answer replayed = berth("version >'" + folder / "ignored" + "'; cd '" + folder / "bundle" + "' && '" BERTH_COMMAND "'" + arguments +
                                " --json --no-timing");
  EXPECT_EQ(replayed.code, 0) << replayed.err;
  EXPECT_EQ(replayed.out, direct.out);
}

TEST(CliDump, ParametersAreQuotedForTheShell) {
  Request request = odd_request();
  request.params = {{"x", "it's; rm -rf"}};

  EXPECT_TRUE(contains(cli::replay_command(request, false), R"(--param 'x=it'\''s; rm -rf')"));
}

TEST(CliDump, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_THROW(cli::dump_decision("/dev/null/x", ClusterState(), {}, odd_request(), ""), EnvironmentError);
}

}  // namespace berth::test::dump_test
