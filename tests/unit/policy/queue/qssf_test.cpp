#include <gtest/gtest.h>

#include <set>

#include "tests/support/policy_jobs.hpp"

namespace berth::qssf_test {
namespace {

using core::find_policy;
using testing::PolicyJob;
using testing::PolicyJobs;
using Keys = std::vector<std::int64_t>;
using Column = std::map<std::string, std::int64_t>;

PolicyJob job(const char* id, std::int32_t gpus, TimeUs estimate) {
  PolicyJob one;
  one.id = id;
  one.gpus = gpus;
  one.estimate = estimate;
  return one;
}

class Live final : public core::LiveJobs {
 public:
  explicit Live(std::set<std::string> ids) : ids_(std::move(ids)) {}
  bool has(const std::string& id) const override { return ids_.count(id) != 0; }

 private:
  std::set<std::string> ids_;
};

}  // namespace

TEST(Qssf, KeyStaysAsItWasAtArrival) {
  PolicyState state;
  const auto policy = find_policy("qssf").make({});
  policy->load(state);
  EXPECT_EQ(PolicyJobs({job("a", 2, 50), job("b", 1, 100)}).keys(*policy), (Keys{100, 100}));
  policy->store(state);

  // Another policy object, as after a restart; the estimate and the GPU count of `a` have changed, and `c` is new.
  const auto later = find_policy("qssf").make({});
  later->load(state);
  EXPECT_EQ(PolicyJobs({job("a", 4, 10), job("b", 1, kNever), job("c", 3, 7)}).keys(*later), (Keys{100, 100, 21}));
  later->store(state);

  EXPECT_EQ(state.columns.at("qssf_key"), (Column{{"a", 100}, {"b", 100}, {"c", 21}}));
}

TEST(Qssf, UnknownEstimateIsAskedAgain) {
  PolicyState state;
  const auto policy = find_policy("qssf").make({});
  policy->load(state);
  EXPECT_EQ(PolicyJobs({job("a", 2, kNever)}).keys(*policy), (Keys{kNever}));
  policy->store(state);
  EXPECT_EQ(state.columns.at("qssf_key"), (Column{{"a", kNever}}));
  policy->load(state);

  EXPECT_EQ(PolicyJobs({job("a", 2, 5)}).keys(*policy), (Keys{10}));
}

TEST(Qssf, RowsOfJobsThatLeftAreDropped) {
  PolicyState state;
  state.columns["qssf_key"] = {{"a", 1}, {"b", 2}, {"c", 3}};
  state.columns["other"] = {{"a", 1}};
  const auto policy = find_policy("qssf").make({});
  policy->load(state);
  policy->store(state);

  policy->retain(state, Live({"b"}));

  EXPECT_EQ(state.columns.at("qssf_key"), (Column{{"b", 2}}));
  EXPECT_EQ(state.columns.at("other"), (Column{{"a", 1}}));
}

TEST(Qssf, StoringIntoAnotherStateCarriesEverything) {
  PolicyState from, to;
  from.columns["qssf_key"] = {{"a", 1}};
  const auto policy = find_policy("qssf").make({});
  policy->load(from);
  EXPECT_EQ(PolicyJobs({job("a", 9, 9), job("b", 2, 2)}).keys(*policy), (Keys{1, 4}));

  policy->store(to);

  EXPECT_EQ(to.columns.at("qssf_key"), (Column{{"a", 1}, {"b", 4}}));
}

TEST(Qssf, ChangedJobsGiveTheSameKeysAsAllJobs) {
  PolicyState state;
  const auto policy = find_policy("qssf").make({});
  policy->load(state);
  EXPECT_EQ(PolicyJobs({job("a", 2, 50)}).keys(*policy), (Keys{100}));
  policy->store(state);
  policy->load(state);
  EXPECT_EQ(PolicyJobs({job("b", 1, 3)}).keys(*policy), (Keys{3}));
  policy->store(state);

  policy->load(state);
  EXPECT_EQ(PolicyJobs({job("a", 1, 1), job("b", 1, 1)}).keys(*policy), (Keys{100, 3}));
}

}  // namespace berth::qssf_test
