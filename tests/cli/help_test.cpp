#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/policy_api/objective.hpp"
#include "host/io/topology/topology_formats.hpp"
#include "host/io/traces/importers.hpp"
#include "tests/cli/command.hpp"

namespace berth::test::help_test {
namespace {

const char* const kCommands[] = {"plan",   "explain",  "validate", "bound",   "import",   "topology", "generate",
                                 "shadow", "simulate", "report",   "sweep",   "capacity", "tune",     "fit",
                                 "bench",  "policies", "devices",  "version", "help",     "whatif",   "when"};

// "--snapshot", "--json", ... as a help text or a page names them.
std::set<std::string> options_in(std::string text) {
  static const std::regex backslash(R"(\\-)"), option(R"(--[a-z][a-z-]*)");
  text = std::regex_replace(text, backslash, "-");
  return {std::sregex_token_iterator(text.begin(), text.end(), option), {}};
}

// What bash offers after these words.
std::set<std::string> completions(const std::string& words) {
  const Answer answer =
      berth("version >&2; bash -c '. \"" BERTH_SOURCE_DIR "/scripts/completion/berth.bash\"; COMP_WORDS=(\"" BERTH_COMMAND "\" " + words +
            " \"\"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _berth; printf \"%s\\n\" \"${COMPREPLY[@]}\"'");
  std::istringstream lines(answer.out);
  return {std::istream_iterator<std::string>(lines), {}};
}

}  // namespace

TEST(CliHelp, EverySubcommandShowsItsUseWithAnExample) {
  for (const std::string command : kCommands) {
    SCOPED_TRACE(command);
    const Answer answer = berth(command + " --help");
    EXPECT_EQ(answer.code, 0);
    EXPECT_TRUE(contains(answer.out, "Example")) << answer.out;
    EXPECT_TRUE(contains(answer.out, "Usage: berth " + command + " ")) << answer.out;
    EXPECT_EQ(answer.err, "");
  }
}

// And each description is one sentence of at most 80 characters, which may take two lines there.
TEST(CliHelp, EveryHelpFitsInEightyColumns) {
  const std::regex begins(R"(^  \S)"), goes_on("^ {28}\\S");
  std::vector<std::string> commands(std::begin(kCommands), std::end(kCommands));
  commands.emplace_back();  // the whole
  for (const std::string& command : commands) {
    const std::string help = berth(command + " --help").out;
    std::istringstream lines(help);
    std::string description;
    int number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
      EXPECT_LE(line.size(), 80U) << command << ": " << line;
      if (std::regex_search(line, begins)) {
        description = line.size() > 28 && line[27] == ' ' && line[28] != ' ' ? line.substr(28) : "";
      } else if (std::regex_search(line, goes_on)) {
        description += (description.empty() ? "" : " ") + line.substr(28);
        EXPECT_LE(description.size(), command == "generate" && contains(description, "Mix GPU types") ? 120U : 80U) << command;
      }
    }
    EXPECT_GT(number, 10);
  }
}

TEST(CliHelp, TablesFitInAHundredColumns) {
  const Folder folder;
  folder.write("t.json", R"({"schema": "berth.trace.v1", "name": "t", "jobs": [{"id": "a", "submit_s": 0, "run_s": 10, "gpus": 1}]})");
  for (const std::string& command :
       {std::string("policies"),
        "simulate --cluster 2x4 --policy fifo fifo@discipline=greedy@packing=count --by size --trace '" + (folder / "t.json") + "'",
        "plan --all --policy fifo --snapshot '" + golden("racks") + "'"}) {
    const Answer answer = berth(command);
    EXPECT_EQ(answer.code, 0) << answer.err;
    std::istringstream lines(answer.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << command << ": " << line;
  }
}

TEST(CliHelp, MessagesRepeatLittleAndShowWhatSteersATerminal) {
  const std::string with = " --snapshot x --policy fifo ", of_x(200, 'x');
  for (const std::string& command :
       {of_x, "help " + of_x, "plan --" + of_x, "plan " + of_x, "plan" + with + of_x, "plan --snapshot x --policy " + of_x,
        "plan" + with + "--param " + of_x, "plan" + with + "--param " + of_x + "=1", "plan" + with + "--param discipline=" + of_x,
        "plan" + with + "--seed " + of_x, "plan" + with + "--backend " + of_x, "plan" + with + "--budget " + of_x, "bench --suite " + of_x,
        "import " + of_x + " x --out y", "simulate --policy fifo@discipline=" + of_x + " --trace x --cluster 1x1",
        "sweep x --until " + of_x, "sweep x --shard " + of_x}) {
    const Answer answer = berth(command);
    EXPECT_EQ(answer.code, 2) << command;
    EXPECT_FALSE(contains(answer.err, std::string(81, 'x'))) << answer.err;
    EXPECT_TRUE(contains(answer.err, "xxx...")) << answer.err;
  }
  const Answer turned = berth("plan --snapshot 'a\xe2\x80\xae\xd8\x9c\xc2\x85\x1b[2J' --policy fifo");
  EXPECT_TRUE(contains(turned.err, R"(a\u202e\u061c\u0085\u001b[2J)")) << turned.err;
}

TEST(CliHelp, TheManPageAndTheCompletionKnowEveryOption) {
  const std::set<std::string> page = options_in(content_of(BERTH_SOURCE_DIR "/docs/man/berth.1"));
  const std::set<std::string> completion = options_in(content_of(BERTH_SOURCE_DIR "/scripts/completion/berth.bash"));
  for (const std::string command : kCommands) {
    for (const std::string& option : options_in(berth(command + " --help").out)) {
      EXPECT_EQ(page.count(option), 1u) << command << " " << option;
      EXPECT_EQ(completion.count(option), 1u) << command << " " << option;
    }
  }
}

TEST(CliHelp, TheCompletionKnowsEveryImportFormat) {
  std::set<std::string> formats;
  for (const io::Importer& one : io::importers()) formats.emplace(one.name);
  EXPECT_EQ(completions("simulate --trace-format"), formats);
  for (const io::TopologyReader& one : io::topology_readers()) formats.emplace(one.name);
  formats.insert({"kai", "slurm", "--help"});
  EXPECT_EQ(completions("import"), formats);
}

TEST(CliHelp, TheCompletionKnowsEveryFormatOfTopologies) {
  std::set<std::string> formats;
  for (const io::TopologyWriter& one : io::topology_writers()) formats.emplace(one.name);
  EXPECT_EQ(completions("topology --format"), formats);
}

TEST(CliHelp, TheCompletionKnowsEveryPolicy) {
  std::set<std::string> names;
  for (const PolicyInfo& info : policies()) names.insert(info.name);
  EXPECT_EQ(completions("plan --policy"), names);
  names.insert({"--json", "--names", "--help"});
  EXPECT_EQ(completions("policies"), names);
}

// scripts/update-golden writes it.
TEST(CliHelp, ThePageOfPoliciesHasTheTableThatTheCommandPrints) {
  const std::string page = content_of(BERTH_SOURCE_DIR "/docs/policies.md"), all = berth("policies").out;
  EXPECT_TRUE(contains(page, "\n```\n" + all.substr(0, all.find("\n\n")) + "\n```\n")) << all;
}

TEST(CliHelp, ThePagesAndTheCompletionKnowEveryObjective) {
  const std::string source = BERTH_SOURCE_DIR, page = content_of(source + "/docs/man/berth.1"),
                    table = content_of(source + "/docs/objectives.md");
  std::set<std::string> names;
  for (const core::ObjectiveInfo& one : core::objectives()) {
    const std::string name(one.name);
    names.insert(name);
    EXPECT_TRUE(std::regex_search(page, std::regex("objective \" NAME\"[^;]*\\b" + name + "\\b"))) << name;
    EXPECT_TRUE(contains(table, "\n| `" + name + "`")) << name;
  }
  EXPECT_EQ(completions("bound --objective"), names);
}

// One wording in the command, the man page and the README.
TEST(CliHelp, ExitCodesAreTheSameEverywhere) {
  const std::regex line(R"(  ([0-9])  ([^\n]+)\n)");
  const std::string help = berth("--help").out;
  const std::string page = content_of(BERTH_SOURCE_DIR "/docs/man/berth.1"), readme = content_of(BERTH_SOURCE_DIR "/README.md");
  int codes = 0;
  for (std::sregex_iterator one(help.begin(), help.end(), line), end; one != end; ++one, ++codes) {
    const std::string code = (*one)[1], text = (*one)[2];
    EXPECT_TRUE(contains(page, ".B " + code + "\n" + text + "\n")) << code << " " << text;
    EXPECT_TRUE(contains(readme, "| " + code + " | " + text + " |\n")) << code << " " << text;
    for (const std::string command : kCommands) EXPECT_TRUE(contains(berth(command + " --help").out, (*one)[0])) << command << code;
  }
  EXPECT_EQ(codes, 4);
}

TEST(CliHelp, WhatCtrlCDoesIsSaid) {
  const std::string said = "best plan so far is the answer";
  EXPECT_TRUE(contains(berth("plan --help").out, said));
  EXPECT_TRUE(contains(content_of(BERTH_SOURCE_DIR "/docs/man/berth.1"), said));
  EXPECT_TRUE(contains(content_of(BERTH_SOURCE_DIR "/README.md"), "Ctrl-C"));
}

TEST(CliHelp, HelpIsACommandToo) {
  EXPECT_EQ(berth("help").out, berth("--help").out);
  for (const std::string command : kCommands) EXPECT_EQ(berth("help " + command).out, berth(command + " --help").out);
  EXPECT_TRUE(contains(berth("--help").out, "\n  help "));

  const Answer unknown = berth("help plna"), two = berth("help plan explain");

  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.err, "did you mean 'plan'?")) << unknown.err;
  EXPECT_EQ(two.code, 2);
  EXPECT_TRUE(contains(two.err, "unexpected argument 'explain'")) << two.err;
}

TEST(CliHelp, WithoutACommandItIsAUsageError) {
  const Answer answer = berth("");

  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.out, "");
  EXPECT_TRUE(contains(answer.err, "--help")) << answer.err;
}

TEST(CliHelp, AMistypedCommandGetsASuggestion) {
  const Answer answer = berth("plna --snapshot x");

  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "unknown command 'plna'")) << answer.err;
  EXPECT_TRUE(contains(answer.err, "did you mean 'plan'?")) << answer.err;
}

TEST(CliHelp, AnUnknownOptionIsAUsageError) {
  const Answer answer = berth("version --jsn");

  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "--jsn")) << answer.err;
  EXPECT_TRUE(contains(answer.err, "berth version --help")) << answer.err;
}

TEST(CliHelp, VersionNamesWhatWasBuilt) {
  const Answer answer = berth("version --json");

  EXPECT_EQ(answer.code, 0);
  EXPECT_TRUE(std::regex_search(answer.out, std::regex(R"(^\{"version":"[0-9.]+","build":"[^"]+","backends":\["reference","cpu")")))
      << answer.out;
}

TEST(CliHelp, DevicesAnswersWithOrWithoutAGpu) {
  const Answer text = berth("devices"), json = berth("devices --json");

  EXPECT_EQ(text.code, 0);
  EXPECT_TRUE(contains(text.out, "cpu ")) << text.out;
  EXPECT_EQ(json.code, 0);
  EXPECT_TRUE(contains(json.out, "\"gpus\":[")) << json.out;
}

TEST(CliHelp, PoliciesAreListedWithRuleSourceAndParameters) {
  const Answer table = berth("policies"), page = berth("policies las"), json = berth("policies --json"), names = berth("policies --names");
  const Answer list = berth("policies --names --json"), one = berth("policies las --names --json");

  EXPECT_EQ(table.code + page.code + json.code + names.code, 0);
  std::string lines, quoted;
  for (const PolicyInfo& info : policies()) {
    lines += info.name + "\n";
    quoted += (quoted.empty() ? "\"" : ",\"") + info.name + "\"";
  }
  EXPECT_TRUE(contains(names.out, lines)) << names.out;
  EXPECT_EQ(list.out, "[" + quoted + "]\n");
  EXPECT_EQ(one.out, "[\"las\"]\n");
  EXPECT_TRUE(contains(page.out, "source: ")) << page.out;
  EXPECT_TRUE(contains(page.out, "--param discipline=greedy")) << page.out;
  const Answer price = berth("policies price");
  EXPECT_TRUE(contains(price.out, "  goodput: power mean of speed x statistical efficiency\n      source: Pollux (OSDI'21)\n"))
      << price.out;
  EXPECT_FALSE(contains(page.out, "objectives:")) << page.out;
  EXPECT_TRUE(contains(json.out, "\"params\":[")) << json.out;
  EXPECT_TRUE(
      contains(json.out, R"x({"name":"goodput","rule":"power mean of speed x statistical efficiency","source":"Pollux (OSDI'21)"})x"));
  EXPECT_TRUE(contains(json.out, R"({"name":"restart","rule":)")) << json.out;
  EXPECT_TRUE(std::regex_search(table.out, std::regex("^policy +order +discipline"))) << table.out;
  EXPECT_TRUE(std::regex_search(table.out, std::regex("\npriority .* easy +smaller class\n")));
  EXPECT_TRUE(contains(table.out, "gittins")) << table.out;
}

}  // namespace berth::test::help_test
