#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/io/files/csv.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::io::import_csv_test {
namespace {

using test::TempFile;

std::vector<std::vector<std::string>> all(const std::string& content) {
  const TempFile file(content);
  CsvReader row(file.path());
  std::vector<std::vector<std::string>> rows;
  while (row.next()) {
    rows.emplace_back();
    for (int c = 0; c < static_cast<int>(row.header().size()); ++c) rows.back().emplace_back(row.text(c));
  }
  return rows;
}

/// The error text after the file's name.
std::string problem(const std::string& content) {
  const TempFile file(content);
  try {
    CsvReader row(file.path());
    while (row.next()) {
    }
  } catch (const InputError& e) {
    return std::string(e.what()).substr(file.path().size());
  }
  return "no error";
}

using Rows = std::vector<std::vector<std::string>>;

}  // namespace

TEST(ImportCsv, LineEndsAndTheLastLineMayDiffer) {
  const Rows want{{"1", "2"}, {"3", ""}};

  EXPECT_EQ(all("a,b\n1,2\n3,\n"), want);
  EXPECT_EQ(all("a,b\r\n1,2\r\n3,\r\n"), want);
  EXPECT_EQ(all("a,b\n1,2\n3,"), want);
  EXPECT_EQ(all("a,b\n1,2\n3,\n\n\r\n"), want);
  EXPECT_EQ(all("\xEF\xBB\xBF"
                "a,b\n1,2\n3,\n"),
            want);
  EXPECT_EQ(all("a,b"), Rows{});
}

TEST(ImportCsv, QuotedFieldsHoldCommasQuotesAndLineEnds) {
  EXPECT_EQ(all("a,\"b\"\n\"1,5\",\"say \"\"no\"\"\"\n\"\",\"x\r\ny\"\n"), (Rows{{"1,5", "say \"no\""}, {"", "x\r\ny"}}));
}

TEST(ImportCsv, GzipReadsAsItsContent) {
  std::string content = "a,b\n";
  for (int i = 0; i < 50'000; ++i) content += std::to_string(i) + ",x\n";  // several buffers

  const auto rows = all(test::gzipped(content));

  ASSERT_EQ(rows.size(), 50'000u);
  EXPECT_EQ(rows.back(), (std::vector<std::string>{"49999", "x"}));
}

TEST(ImportCsv, DamageIsNamedWithItsLine) {
  EXPECT_EQ(problem(""), ":1: the file is empty; expected a header");
  EXPECT_EQ(problem("{\"a\": 1}"), ":1: this is JSON; expected a table with a header");
  EXPECT_EQ(problem("a,b\n1\n"), ":2: 1 field, and the header has 2");
  EXPECT_EQ(problem("a,b\n1,2\n1,2,3\n"), ":3: 3 fields, and the header has 2");
  EXPECT_EQ(problem("a,b\n1,2\n\n3,4\n"), ":3: an empty line before the end");
  EXPECT_EQ(problem("a,b\n1,x\"y\n"), ":2: a quote inside the unquoted field 2");
  EXPECT_EQ(problem("a,b\n\"1\"x,2\n"), ":2: text after the closing quote of field 1");
  EXPECT_EQ(problem("a,b\n1,\"2\n3,4\n"), ":2: a quoted field is not closed");
  EXPECT_EQ(problem("a,b\n1,2\r3,4\n"), ":2: a carriage return without a line feed");
  EXPECT_EQ(problem("a,a\n1,2\n"), ":1: the header names column 'a' twice");
  EXPECT_EQ(problem(std::string("a,b\n1,\0\n", 8)), ":2: a NUL byte: the file is not text");
  EXPECT_EQ(problem("a,b\n1,\xff\n"), ":2: the text is not UTF-8");
  EXPECT_EQ(problem("a\n" + std::string(2'000'000, 'x')), ":2: a record of more than 1 MiB");
}

TEST(ImportCsv, LinesInsideQuotesCount) { EXPECT_EQ(problem("a,b\n\"x\ny\",2\n3\n"), ":4: 1 field, and the header has 2"); }

TEST(ImportCsv, ACutOrDamagedGzipStreamIsRefused) {
  std::string content = "a,b\n";
  for (int i = 0; i < 1'000; ++i) content += std::to_string(i * 7919 % 1000) + ",x\n";
  const std::string whole = test::gzipped(content);
  std::string flipped = whole;
  flipped[whole.size() - 6] = static_cast<char>(flipped[whole.size() - 6] ^ 1);  // the checksum

  EXPECT_NE(problem(whole.substr(0, whole.size() / 2)).find("the gzip stream ends too early"), std::string::npos);
  EXPECT_NE(problem(flipped).find("damaged gzip stream"), std::string::npos);
}

TEST(ImportCsv, BadValuesAreNamedWithColumnAndValue) {
  const TempFile file("id,gpus,run\nx,8.0,1.5\ny,8.5,1e9\n");
  CsvReader row(file.path());

  ASSERT_TRUE(row.next());
  EXPECT_EQ(row.integer(1, 0, 8), 8);
  EXPECT_EQ(row.seconds(2), 1'500'000);
  ASSERT_TRUE(row.next());
  try {
    row.integer(1, 0, 8);
    FAIL() << "8.5 GPUs were read";
  } catch (const InputError& e) {
    EXPECT_EQ(e.line(), 3);
    EXPECT_EQ(e.what(), file.path() + ":3: column 'gpus' (2): expected a whole number from 0 to 8, found '8.5'");
  }
  EXPECT_THROW(row.seconds(2), InputError);
  EXPECT_THROW(row.column("gpu"), InputError);
  EXPECT_EQ(row.find("gpu"), -1);
}

TEST(ImportCsv, NumbersBeyondTheirRangeAreRefused) {
  for (const char* bad : {"9223372036854775808", "-9223372036854775809", "9", "-1", "", "-", "NaN", "1e400", "0x8", "8.", "7 7"}) {
    const TempFile file(std::string("n,m\n") + bad + ",1\n");
    CsvReader row(file.path());
    ASSERT_TRUE(row.next());

    EXPECT_THROW(row.integer(0, 0, 8), InputError) << bad;
  }
}

TEST(ImportCsv, AMissingFileIsTheEnvironmentsError) {
  EXPECT_THROW(CsvReader("/nowhere/at/all.csv"), EnvironmentError);
  EXPECT_THROW(CsvReader{::testing::TempDir()}, EnvironmentError);
}

}  // namespace berth::io::import_csv_test
