#include "host/io/traces/shockwave_batches.hpp"

#include <gtest/gtest.h>

namespace berth::io::shockwave_batches_test {

using Changes = std::vector<BatchChange>;

TEST(ShockwaveBatches, AModelIsAFamilyAndABatch) {
  const BatchedModel model = batched_model("ResNet-18 (batch size 64)");
  EXPECT_EQ(model.family, "ResNet-18");
  EXPECT_EQ(model.batch, 64);
  EXPECT_EQ(model.steps_per_epoch(), 782);  // 781.25
  EXPECT_EQ(with_batch(model, 128), "ResNet-18 (batch size 128)");
  for (const char* other : {"A3C", "ResNet-18 (batch size 0)", "ResNet-18 (batch size 64", "ResNet-18 (batch size x)"}) {
    EXPECT_EQ(batched_model(other).batch, 0) << other;
    EXPECT_EQ(batched_model(other).steps_per_epoch(), 0) << other;
  }
  EXPECT_EQ(batched_model("VGG (batch size 4)").steps_per_epoch(), 0);
}

TEST(ShockwaveBatches, GnsDoublesFromItsEpochsOnUpToTheLargestBatch) {
  EXPECT_EQ(shockwave_batches("gns", {"LM", 10}, 1, 100), (Changes{{11, 20}, {21, 40}, {41, 80}}));
  EXPECT_EQ(shockwave_batches("gns", {"LM", 10}, 2, 31), (Changes{{11, 20}}));
  EXPECT_EQ(shockwave_batches("gns", {"LM", 10}, 2, 32), (Changes{{11, 20}, {31, 40}}));
  EXPECT_EQ(shockwave_batches("gns", {"Recommendation", 512}, 1, 200), (Changes{{21, 1'024}, {41, 2'048}, {71, 4'096}, {91, 8'192}}));
  EXPECT_EQ(shockwave_batches("gns", {"ResNet-18", 32}, 8, 200), Changes{});
  EXPECT_EQ(shockwave_batches("gns", {"Transformer", 16}, 1, 200), Changes{});
  EXPECT_EQ(shockwave_batches("static", {"LM", 10}, 1, 100), Changes{});
}

TEST(ShockwaveBatches, AccordionTakesTheLargestBatchOutsideOfCriticalRegimesAfterThirtyPerCent) {
  EXPECT_EQ(shockwave_batches("accordion", {"LM", 5}, 1, 20), (Changes{{10, 80}}));  // epochs 7 to 9 are critical
  EXPECT_EQ(shockwave_batches("accordion", {"LM", 5}, 1, 40), (Changes{{13, 80}}));  // 12 is not after 30 % of 40
  EXPECT_EQ(shockwave_batches("accordion", {"LM", 80}, 1, 100), Changes{});          // there is no larger one
  EXPECT_EQ(shockwave_batches("accordion", {"ResNet-50", 32}, 1, 70), (Changes{{22, 128}, {30, 32}, {40, 128}, {60, 32}}));
  EXPECT_EQ(shockwave_batches("accordion", {"ResNet-18", 16}, 1, 161), (Changes{{49, 256}, {150, 16}, {160, 256}}));
  EXPECT_EQ(shockwave_batches("accordion", {"Recommendation", 2'048}, 1, 100),
            (Changes{{40, 8'192}, {60, 2'048}, {70, 8'192}, {80, 2'048}, {90, 8'192}}));
}

TEST(ShockwaveBatches, LongJobsChangeAsOftenAsThePatternDoes) {
  const Changes long_one = shockwave_batches("accordion", {"ResNet-50", 64}, 1, 1'000'000'000'000);
  EXPECT_EQ(long_one, (Changes{{300'000'000'001, 128}}));
  EXPECT_EQ(shockwave_batches("accordion", {"ResNet-50", 64}, 1, 1'900), (Changes{{580, 128}}));  // 571 to 579 are critical
  EXPECT_EQ(shockwave_batches("accordion", {"ResNet-50", 64}, 1, 2'003), (Changes{{601, 128}}));
  EXPECT_EQ(shockwave_batches("accordion", {"ResNet-50", 64}, 1, 2'010), (Changes{{604, 128}}));
}

}  // namespace berth::io::shockwave_batches_test
