#include "host/io/slurm/slurm_tres.hpp"

#include <gtest/gtest.h>

#include "berth/units.hpp"

namespace berth::io::slurm_tres_test {
namespace {

std::vector<Gres> gres_of(std::string_view text) {
  std::vector<Gres> out;
  EXPECT_EQ(parse_gres(text, out), "") << text;
  return out;
}

void expect_gres(std::string_view text, std::string_view name, std::string_view type, std::int64_t count) {
  const std::vector<Gres> out = gres_of(text);
  ASSERT_EQ(out.size(), 1u) << text;
  EXPECT_EQ(out[0].name, name) << text;
  EXPECT_EQ(out[0].type, type) << text;
  EXPECT_EQ(out[0].count, count) << text;
}

Tres tres_of(std::string_view text) {
  Tres out;
  EXPECT_EQ(parse_tres(text, out), "") << text;
  return out;
}

}  // namespace

TEST(SlurmTres, ATypeAndACountAreDistinguished) {
  expect_gres("gpu", "gpu", "", 1);
  expect_gres("gpu:4", "gpu", "", 4);
  expect_gres("gpu:h100", "gpu", "h100", 1);
  expect_gres("gpu:h100:8(S:0-1)", "gpu", "h100", 8);
  expect_gres("gpu:4090:2", "gpu", "4090", 2);
  expect_gres("nic:2K", "nic", "", 2048);
}

TEST(SlurmTres, RequestsOfOldAndNewVersionsAreRead) {
  expect_gres("gres:gpu:h100:4", "gpu", "h100", 4);
  expect_gres("gres/gpu:h100:4", "gpu", "h100", 4);
  expect_gres("gres/gpu:h100=4", "gpu", "h100", 4);
  expect_gres("gres/gpu=4", "gpu", "", 4);
}

TEST(SlurmTres, IndicesAreReadWhereTheyAreSaid) {
  const std::vector<Gres> some = gres_of("gpu:h100:3(IDX:0,2-3),gpu:a100:1(IDX:7)"), none = gres_of("gpu:h100:0(IDX:N/A)");

  ASSERT_EQ(some.size(), 2u);
  EXPECT_EQ(some[0].indices, 0b1101u);
  EXPECT_TRUE(some[0].indexed);
  EXPECT_EQ(some[1].indices, 0x80u);
  EXPECT_EQ(none[0].indices, 0u);
  EXPECT_FALSE(none[0].indexed);
  EXPECT_FALSE(some[0].beyond);
  EXPECT_TRUE(gres_of("gpu:70(IDX:0-69)")[0].beyond);
}

TEST(SlurmTres, ACountInParenthesesIsForNamesWithoutOne) {
  expect_gres("gpu:h100:4(IDX:0-3)", "gpu", "h100", 4);
  expect_gres("gpu:h100(CNT:4)", "gpu", "h100", 4);
  expect_gres("gpu(CNT:4)", "gpu", "", 4);
  expect_gres("gpu(CNT:0)", "gpu", "", 0);
  expect_gres("gpu:h100(IDX:0,2)", "gpu", "h100", 2);
  expect_gres("gpu(IDX:0-3,68-69)", "gpu", "", 6);
  expect_gres("gpu(IDX:N/A)", "gpu", "", 0);
  expect_gres("gpu:h100(S:0-1)", "gpu", "h100", 1);
  expect_gres("gpu:h100:3(IDX:6)", "gpu", "h100", 3);  // what it says, whether they agree or not
}

TEST(SlurmTres, EmptyListsHaveTheirOwnWords) {
  EXPECT_TRUE(gres_of("").empty());
  EXPECT_TRUE(gres_of("N/A").empty());
  EXPECT_TRUE(gres_of("(null)").empty());
}

TEST(SlurmTres, WhatIsNoResourceIsRefused) {
  std::vector<Gres> out;
  EXPECT_EQ(parse_gres("gpu:h100:x", out), "'gpu:h100:x' is no generic resource NAME[:TYPE][:COUNT]");
  EXPECT_EQ(parse_gres("gpu:4(IDX:0-", out), "'gpu:4(IDX:0-' is no generic resource NAME[:TYPE][:COUNT]");
  EXPECT_EQ(parse_gres("gpu:4(IDX:3-1)", out), "'gpu:4(IDX:3-1)' is no generic resource NAME[:TYPE][:COUNT]");
  EXPECT_EQ(parse_gres("gpu:h100(CNT:x)", out), "'gpu:h100(CNT:x)' is no generic resource NAME[:TYPE][:COUNT]");
  EXPECT_EQ(parse_gres(":4", out), "':4' is no generic resource NAME[:TYPE][:COUNT]");
  EXPECT_EQ(parse_gres("gpu:99999999999999999999999", out), "");  // a type of digits
  EXPECT_NE(parse_gres("gpu:a:99999999999999999999999", out), "");
}

TEST(SlurmTres, GpusOfSeveralTypesAreMarked) {
  GpuCount one, mixed, others;
  EXPECT_EQ(parse_gpus("gres:gpu:h100:2,gres:gpu:h100:2", one), "");
  EXPECT_EQ(parse_gpus("gres:gpu:h100:2,gres:gpu:a100:1", mixed), "");
  EXPECT_EQ(parse_gpus("gres:nic:1,gres:gpu:2", others), "");

  EXPECT_EQ(one.count, 4);
  EXPECT_EQ(one.type, "h100");
  EXPECT_FALSE(one.mixed);
  EXPECT_TRUE(mixed.mixed);
  EXPECT_TRUE(others.others);
  EXPECT_EQ(others.count, 2);
}

TEST(SlurmTres, AmountsHaveUnits) {
  const Tres tres = tres_of("cpu=2,mem=1.5G,node=3,billing=2,gres/gpu=4,gres/gpu:h100=4");

  EXPECT_EQ(tres.cpus, 2);
  EXPECT_EQ(tres.memory_bytes, std::int64_t{3} << 29);
  EXPECT_EQ(tres.nodes, 3);
  EXPECT_EQ(tres.gpus, 4);
  EXPECT_EQ(tres.gpu_type, "h100");
  EXPECT_EQ(tres_of("").cpus, -1);
  EXPECT_EQ(tres_of("gres/gpu:h100=4").gpus, 4);
  EXPECT_EQ(tres_of("gres/gpu:h100=4,gres/gpu:a100=2").gpus, 6);
  EXPECT_EQ(tres_of("gres/gpu:h100=4,gres/gpu:a100=2").gpu_type, "");
}

TEST(SlurmTres, MemoryIsExactAndCapped) {
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  EXPECT_EQ(parse_memory("200", kMiB), 200 * kMiB);
  EXPECT_EQ(parse_memory("200M", 1), 200 * kMiB);
  EXPECT_EQ(parse_memory("62.5G", kMiB), 64'000 * kMiB);
  EXPECT_EQ(parse_memory("0.0001K", kMiB), 0);
  EXPECT_EQ(parse_memory("64P", kMiB), kMaxBytes);
  EXPECT_EQ(parse_memory("65P", kMiB), -1);
  EXPECT_EQ(parse_memory("", kMiB), -1);
  EXPECT_EQ(parse_memory("G", kMiB), -1);
  EXPECT_EQ(parse_memory("1.2.3M", kMiB), -1);
  EXPECT_EQ(parse_memory("-5M", kMiB), -1);
  Tres out;
  EXPECT_EQ(parse_tres("cpu=x", out), "'cpu=x' is no amount of a resource");
  EXPECT_EQ(parse_tres("mem=", out), "'mem=' is no amount of a resource");
}

}  // namespace berth::io::slurm_tres_test
