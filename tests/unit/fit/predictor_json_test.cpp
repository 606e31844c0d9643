#include "host/fit/predictor_json.hpp"

#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "tests/support/json_schema.hpp"

namespace berth::fit::predictor_json_test {
namespace {

std::string refusal(const std::string& json) {
  try {
    parse_predictor(json, "m.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string with_weights(const std::string& weights, const std::string& schema = "berth.predictor.v1") {
  return R"({"schema": ")" + schema + R"(", "weights_micro": )" + weights + R"(, "rows": 5, "jobs": 2})";
}

TEST(PredictorJson, ComesBackAsItWas) {
  const Predictor all{{{1, -2, 3'000'000, 0, -policy::kMostProgressWeight, policy::kMostProgressWeight}}, 590, 20};

  EXPECT_EQ(parse_predictor(to_json(all), "m.json"), all);
  EXPECT_EQ(test::unused_fields(to_json(all), predictor_schema()), "");
}

TEST(PredictorJson, AnotherVersionOrContentIsRefused) {
  EXPECT_EQ(refusal(with_weights("[1, 2, 3, 4, 5, 6]")), "accepted");
  EXPECT_EQ(refusal(with_weights("[1, 2, 3, 4, 5, 6]", "berth.predictor.v2")),
            "m.json:1: /schema: this reader knows the schema \"berth.predictor.v1\", not \"berth.predictor.v2\"");
  EXPECT_EQ(refusal(with_weights("[1, 2, 3, 4, 5]")), "m.json:1: /weights_micro: expected 6 weights, found 5");
  EXPECT_EQ(refusal(with_weights("[1, 2, 3, 4, 5, 6, 7]")), "m.json:1: /weights_micro: expected 6 weights, found 7");
  for (const char* bad : {"[1, 2, 3, 4, 5, 6.5]", "[1, 2, 3, 4, 5, \"6\"]", "[1, 2, 3, 4, 5, null]", "[1, 2, 3, 4, 5, 1000000000001]", "{}",
                          "[1, 2, 3, 4, 5, NaN]"}) {
    EXPECT_NE(refusal(with_weights(bad)), "accepted") << bad;
  }
  EXPECT_NE(refusal("{}"), "accepted");
  EXPECT_NE(refusal(""), "accepted");
  EXPECT_NE(refusal(with_weights("[1, 2, 3, 4, 5, 6]") + "{}"), "accepted");
}

}  // namespace
}  // namespace berth::fit::predictor_json_test
