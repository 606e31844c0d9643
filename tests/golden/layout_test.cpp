#include "tests/golden/layout.hpp"

#include <gtest/gtest.h>

namespace berth::test::layout_test {

TEST(Layout, PutsEachDecisionOnItsLine) {
  const std::string json = R"({"a":1,"d":[{"job":"x, {y}","gpus":[1,2]},{"job":"\"z"}],"t":{}})";

  const std::string text = lay_out(json);

  EXPECT_EQ(text,
            "{\n"
            "  \"a\": 1,\n"
            "  \"d\": [\n"
            "    {\"job\": \"x, {y}\", \"gpus\": [1, 2]},\n"
            "    {\"job\": \"\\\"z\"}\n"
            "  ],\n"
            "  \"t\": {\n"
            "    \n"
            "  }\n"
            "}\n");
}

TEST(Layout, IsStable) {
  const std::string once = lay_out(R"({"a":[[1],[2,3]],"b":"c"})");

  EXPECT_EQ(lay_out(once), once);
}

TEST(Layout, PutsNestedValuesOnLinesWhereTheyFit) {
  const std::string many(140, 'x'), json = R"({"a":{"b":["c, {:}",1],"d":{}},"e":[")" + many + R"(",2]})";

  EXPECT_EQ(lay_out_nested(json), "{\n \"a\": {\"b\": [\"c, {:}\", 1], \"d\": {}},\n \"e\": [\n  \"" + many + "\",\n  2\n ]\n}\n");
}

TEST(Difference, ShowsWhatChangedAndOnlyThat) {
  EXPECT_EQ(difference("a\nb\nc\nd\n", "a\nx\nc\ny\nd\n"), "from line 2:\n- b\n+ x\n+ y\n");
  EXPECT_EQ(difference("", "a\n"), "from line 1:\n+ a\n");
}

}  // namespace berth::test::layout_test
