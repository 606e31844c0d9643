// Limits of the system: memory, file size, full devices. Errors are reported, and no partial file stays.
#include "tests/cli/command.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::test::limits_test {
namespace {

// The sanitizers' own memory exceeds a limit of address space. gcc reports them by macros, clang by features.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define BERTH_TEST_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(BERTH_TEST_SANITIZED)
constexpr bool kLimitsMemory = false;  // a sanitizer reserves terabytes of addresses
#else
constexpr bool kLimitsMemory = true;
#endif

constexpr std::size_t kMiB = std::size_t{1} << 20;

// `times` times 64 MiB of blanks around a document: gzip members may follow each other.
std::string blown_up(const std::string& document, int times) {
  const std::string blanks = gzipped(std::string(64 * kMiB, ' '));
  std::string packed;
  for (int i = 0; i < times; ++i) packed += blanks;
  return packed + gzipped(document);
}

Answer limited(const std::string& limit, const std::string& arguments) {
  return berth("version >/dev/null; ulimit " + limit + "; '" BERTH_COMMAND "' " + arguments);
}

std::ptrdiff_t files_in(const Folder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder / ""), std::filesystem::directory_iterator());
}

}  // namespace

TEST(CliLimits, AGzipBombIsRefusedAlsoWhereMemoryIsShort) {
  const Folder folder;
  const std::string bomb = folder.write("s.json.gz", blown_up("{}", 48));  // 3 GiB
  ASSERT_LT(std::filesystem::file_size(bomb), 8 * kMiB);

  for (const std::string kib : {"unlimited", "1000000", "300000"}) {
    if (!kLimitsMemory && kib != "unlimited") continue;
    SCOPED_TRACE(kib);
    const Answer answer = limited("-v " + kib, "validate --snapshot '" + bomb + "'");
    EXPECT_EQ(answer.code, 2);
    EXPECT_EQ(answer.out, "");
    EXPECT_EQ(answer.err, "berth: " + bomb + ": larger than 512 MiB (after unpacking)\n");
  }
}

// What follows the string is damaged: a string that is refused early is refused before that is seen.
TEST(CliLimits, AStringThatGoesOnAndOnIsRefusedEarly) {
  const Folder folder;
  const std::string head = "{\"schema\": \"berth.trace.v1\",\n\"name\": \"n\", \"jobs\": [\n{\"id\": \"";
  const std::string bomb =
      folder.write("t.json.gz", gzipped(head) + gzipped(std::string(64 * kMiB, 'x')) + gzipped("x").substr(0, 12) + std::string(100, 'x'));
  const std::string out = " --out '" + (folder / "out") + "'";
  const std::string trace =
      folder.write("t.json", R"({"schema": "berth.trace.v1", "jobs": [{"id": "a", "submit_s": 0, "run_s": 1, "gpus": 1}]})");
  for (const std::string& command : {"validate --snapshot '" + bomb + "'", "import trace '" + bomb + "'" + out,
                                     "simulate --cluster 1x1 --policy fifo --stream --trace '" + bomb + "'",
                                     "simulate --cluster 1x1 --policy fifo --trace '" + trace + "' --events '" + bomb + "'",
                                     "simulate --cluster 1x1 --policy fifo --trace '" + trace + "' --overheads '" + bomb + "'",
                                     "simulate --policy fifo --trace '" + trace + "' --cluster '" + bomb + "'",
                                     "validate --snapshot '" + golden("racks") + "' --plan '" + bomb + "'",
                                     "plan --policy ones --snapshot '" + golden("racks") + "' --state-in '" + bomb + "'"}) {
    SCOPED_TRACE(command);
    const Answer answer = limited(kLimitsMemory ? "-v 300000" : "-v unlimited", command);
    EXPECT_EQ(answer.code, 2);
    EXPECT_EQ(answer.out, "");
    EXPECT_EQ(answer.err, "berth: " + bomb + ":3: a string of more than 16 MiB begins here; Berth reads none that long\n");
  }
  EXPECT_EQ(files_in(folder), 2);
}

// A string of backslashes and quotes, a number, a job of many short strings, a record of nothing but empty fields.
TEST(CliLimits, OtherTokensThatGoOnAndOnAreRefusedEarly) {
  const Folder folder;
  const std::string damage = gzipped("x").substr(0, 12) + std::string(100, 'x');
  const auto refused = [&](const std::string& head, const std::string& again, const std::string& options) {
    std::string text;
    text.reserve(34 * kMiB);
    while (text.size() < 34 * kMiB) text += again;
    const std::string bomb = folder.write("t.gz", gzipped(head) + gzipped(text) + gzipped(text) + damage);
    const Answer answer =
        limited(kLimitsMemory ? "-v 500000" : "-v unlimited", "simulate --cluster 1x1 --policy fifo --trace '" + bomb + "'" + options);
    EXPECT_EQ(answer.code, 2);
    return answer.err.substr(0, answer.err.find('\n')).substr(std::min(answer.err.size(), 7 + bomb.size()));
  };
  const std::string head = "{\"schema\": \"berth.trace.v1\", \"jobs\": [{\"id\": ";

  EXPECT_EQ(refused(head + "\"", "\\\\\\\"", ""), ":1: a string of more than 16 MiB begins here; Berth reads none that long");
  EXPECT_EQ(refused(head, "1", " --stream"), ":1: a token of more than 16 MiB begins here; Berth reads none that long");
  EXPECT_EQ(refused(head + "\"a\", \"x_\": [1", ", \"yyyyyyyy\"", " --stream"), ":1: /jobs/0: an element of more than 64 MiB");
  EXPECT_EQ(refused("job_id,arrival_s,service_sec,gpu_count\n", ",,,,,,,,", " --trace-format pai"), ":2: a record of more than 1 MiB");
}

TEST(CliLimits, ADocumentThatFitsTheLimitAndNotTheMemoryIsOutOfMemory) {
  if (!kLimitsMemory) GTEST_SKIP() << "under a sanitizer";
  const Folder folder;
  const std::string file = folder.write("s.json.gz", blown_up(content_of(golden("racks")), 7));  // 448 MiB

  const Answer enough = berth("validate --snapshot '" + file + "'"), little = limited("-v 300000", "validate --snapshot '" + file + "'");

  EXPECT_EQ(enough.code, 0) << enough.err;
  EXPECT_EQ(little.code, 3);
  EXPECT_EQ(little.out, "");
  EXPECT_EQ(little.err, "berth: out of memory\n");
}

TEST(CliLimits, AFileOfHolesAboveTheLimitIsRefused) {
  const Folder folder;
  const std::string file = folder.write("s.json", content_of(golden("racks")));
  std::filesystem::resize_file(file, 513 * kMiB);

  const Answer answer = berth("validate --snapshot '" + file + "'"), piped = berth("validate --snapshot - <'" + file + "'");

  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.err, "berth: " + file + ": larger than 512 MiB (after unpacking)\n");
  EXPECT_EQ(piped.code, 2);
  EXPECT_EQ(piped.err, "berth: standard input:32: a token of more than 16 MiB begins here; Berth reads none that long\n")
      << "the size of what is piped is not known beforehand";
}

TEST(CliLimits, AFileThatMayNotGrowIsNotThere) {
  const Folder folder;
  const std::string source = folder.write("pai.csv", "job_id,arrival_s,service_sec,gpu_count\nali-1-w#1,100.0,50.0,4\n");
  const std::string out = folder / "out.json";
  for (const std::string& arguments :
       {"plan --snapshot '" + golden("racks") + "' --policy fifo --out '" + out + "'",
        "plan --snapshot '" + golden("racks") + "' --policy fifo --state-out '" + out + "'",
        "generate --nodes 8 --jobs 20 --out '" + out + "'", "import pai '" + source + "' --out '" + out + "'"}) {
    SCOPED_TRACE(arguments);
    const Answer answer = limited("-f 0", arguments);
    EXPECT_EQ(answer.code, 2);
    EXPECT_EQ(answer.out, "");
    EXPECT_EQ(files_in(folder), 1);
  }
}

TEST(CliLimits, AFileThatMayNotGrowKeepsWhatItHad) {
  const Folder folder;
  const std::string plan = folder.write("p.json", "old");

  const Answer answer = limited("-f 1", "generate --nodes 8 --jobs 200 --out '" + plan + "'");  // some of it is written

  EXPECT_EQ(answer.code, 2) << answer.err;
  EXPECT_EQ(content_of(plan), "old");
  EXPECT_EQ(files_in(folder), 1);
}

TEST(CliLimits, AFullDeviceStaysADevice) {
  const Answer answer = berth("generate --nodes 8 --jobs 20 --out /dev/full");

  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.err, "berth: cannot write '/dev/full': No space left on device\n");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

}  // namespace berth::test::limits_test
