#include "host/results/sweep_store.hpp"

#include <gtest/gtest.h>

#include <set>

#include "berth/error.hpp"
#include "host/results/sha256.hpp"
#include "tests/support/folder.hpp"

namespace berth::results::sweep_store_test {
namespace {

using test::Folder;

struct StoredTrace {
  Trace trace;
  Run run;
  SweepEntry entry;

  explicit StoredTrace(const std::string& key, TimeUs jct_us) {
    trace.name = "t";
    run.policy = "fifo";
    run.cluster = "2x4";
    run.trace = &trace;
    run.figures.makespan_us = 5;
    entry.key = key;
    entry.inputs = "{}";
    entry.counted.jct_us.mean = jct_us;
  }
};

}  // namespace

TEST(Sha256, AsPublished) {
  EXPECT_EQ(sha256_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_of(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  std::set<std::string> all;
  for (std::size_t n = 0; n < 200; ++n) {
    Sha256 pieces;
    for (std::size_t i = 0; i < n; ++i) pieces.add("x");
    const std::string whole = sha256_of(std::string(n, 'x'));
    EXPECT_EQ(pieces.finish(), whole) << n;
    all.insert(whole);
  }
  EXPECT_EQ(all.size(), 200U);
}

TEST(SweepStore, KeepsTheFirstResultOfAKey) {
  const Folder folder;
  SweepStore store(folder / "s");
  const StoredTrace first("k", 10), second("k", 20), other("l", 30);
  EXPECT_EQ(store.add(first.entry, first.run)[0], 10);
  EXPECT_EQ(store.add(second.entry, second.run)[0], 10);
  EXPECT_EQ(store.add(other.entry, other.run)[*sweep_metric("makespan")], 5);
  const auto all = store.figures();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.at("k")[*sweep_metric("jct")], 10);
  EXPECT_EQ(all.at("l")[*sweep_metric("jct")], 30);
  EXPECT_EQ(stored_figures(folder / "s"), all) << "readable while another process writes";
  EXPECT_TRUE(stored_figures(folder / "none").empty());
}

TEST(SweepStore, PackedAndMergedRunsAreTheSame) {
  const Folder folder;
  const StoredTrace a("a", 1), b("b", 2), c("c", 3);
  std::string hash;
  {
    SweepStore store(folder / "direct");
    for (const StoredTrace* one : {&a, &b, &c}) store.add(one->entry, one->run);
    hash = store.hash();
  }
  {
    SweepStore store(folder / "packed");
    for (const StoredTrace* one : {&c, &a, &b}) {
      std::string packed = packed_run(one->entry, one->run);
      EXPECT_EQ(store.add_packed(one->entry.key, packed)[0], one->entry.counted.jct_us.mean);
    }
    EXPECT_EQ(store.hash(), hash);
    std::string packed = packed_run(a.entry, a.run);
    EXPECT_THROW(store.add_packed("another", packed), Error);
    std::string damaged = packed_run(StoredTrace("d", 4).entry, StoredTrace("d", 4).run);
    std::fill(damaged.begin() + 200, damaged.end(), '\x55');
    EXPECT_THROW(store.add_packed("d", damaged), Error);
    std::string no_database(1000, 'x');
    EXPECT_THROW(store.add_packed("d", no_database), Error);
    EXPECT_EQ(store.hash(), hash) << "and nothing of them is in it";
  }
  SweepStore store(folder / "merged");
  store.add(b.entry, b.run);
  EXPECT_EQ(store.merge(folder / "packed"), 2);
  EXPECT_EQ(store.merge(folder / "direct"), 0);
  EXPECT_EQ(store.hash(), hash);
  EXPECT_EQ(hash_of_file(folder / "merged"), hash);
}

TEST(SweepStore, OneSweepAtATime) {
  const Folder folder;
  {
    const SweepStore store(folder / "s");
    EXPECT_THROW(SweepStore(folder / "s"), EnvironmentError);
    ResultsFile(folder / "s").add(StoredTrace("k", 1).run);  // others may add runs meanwhile
  }
  const SweepStore again(folder / "s");
}

}  // namespace berth::results::sweep_store_test
