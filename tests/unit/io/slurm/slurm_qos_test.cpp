#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/io/slurm/slurm_support.hpp"

namespace berth::test::slurm_qos_test {
namespace {

/// Jobs of (account, user, qos) with numbers from 1, and what sacctmgr prints.
struct Member {
  std::string account, user, qos;
};
io::SlurmImport with(const std::string& accounts, const std::vector<Member>& members) {
  std::vector<SlurmRow> rows;
  int id = 1;
  for (const Member& one : members)
    rows.push_back(job22(id++).text("account", one.account).text("user_name", one.user).text("qos", one.qos));
  return imported(jobs22(rows) + nodes22({node22("n1"), node22("n2")}) + accounts);
}

/// "id<parent type=limit ..." of each queue.
std::string queues(const Snapshot& snapshot) {
  std::string text;
  for (const Queue& queue : snapshot.queues) {
    text += (text.empty() ? "" : "; ") + queue.id + "<" + queue.parent;
    for (const Quota& one : queue.quotas) text += " " + one.gpu_type + "=" + std::to_string(one.limit);
  }
  return text;
}
std::string queue_of(const Snapshot& snapshot, const char* job) { return find_job(snapshot, job)->queue; }

const char* const kLab = "Account|User|ParentName|Share|GrpTRES\nlab||root|1|gres/gpu=8\nvision||lab|3|\nspeech||lab|1|\n";

TEST(SlurmQos, ALimitOfItsGroupIsOneOverAllAccounts) {
  const io::SlurmImport import =
      with("Name|GrpTRES\nlow|gres/gpu=4,gres/gpu:h100=2,cpu=9\nhigh|\n", {{"a", "ann", "low"}, {"b", "bob", "low"}, {"b", "bob", "high"}});
  EXPECT_EQ(queues(import.snapshot), "b<; qos=low< *=4 h100=2");
  EXPECT_EQ(queue_of(import.snapshot, "1"), "qos=low");
  EXPECT_EQ(queue_of(import.snapshot, "2"), "qos=low");
  EXPECT_EQ(queue_of(import.snapshot, "3"), "b");
  EXPECT_FALSE(noted(import, "does not count"));
}

TEST(SlurmQos, ItStandsInPlaceOfTheLimitsOfAccounts) {
  const io::SlurmImport import =
      with(std::string(kLab) + "Name|GrpTRES\nlow|gres/gpu=4\n", {{"vision", "ann", "low"}, {"vision", "ann", "high"}});
  EXPECT_EQ(queue_of(import.snapshot, "1"), "qos=low");
  EXPECT_EQ(queue_of(import.snapshot, "2"), "vision");
  EXPECT_TRUE(noted(import, "1 job of a QOS with GrpTRES: it does not count in the limits of its account (first: 1)"));
}

TEST(SlurmQos, LimitsOfUsersAreBelowTheirAccount) {
  const io::SlurmImport import = with(std::string(kLab) + "Name|MaxTRESPU\nlow|gres/gpu=2\n",
                                      {{"vision", "ann", "low"}, {"vision", "bob", "low"}, {"vision", "ann", "low"}, {"", "ann", "low"}});
  EXPECT_EQ(queues(import.snapshot),
            "vision<lab; lab< *=8; vision/qos=low/ann<vision *=2; vision/qos=low/bob<vision *=2; qos=low/ann< *=2");
  EXPECT_EQ(queue_of(import.snapshot, "3"), "vision/qos=low/ann");
  EXPECT_TRUE(noted(import, "1 user with jobs of one QOS in several accounts: MaxTRESPU holds in each of these (first: ann)"));
}

TEST(SlurmQos, LimitsOfAccountsAreAboveThoseOfUsers) {
  const io::SlurmImport import = with(std::string(kLab) + "Name|MaxTRESPA|MaxTRESPU\nlow|gres/gpu=4|gres/gpu=2\n",
                                      {{"vision", "ann", "low"}, {"speech", "bob", "low"}, {"speech", "bob", "high"}});
  EXPECT_EQ(
      queues(import.snapshot),
      "vision<lab; speech<lab; lab< *=8; vision/qos=low<vision *=4; vision/qos=low/ann<vision/qos=low *=2; speech/qos=low<speech *=4; "
      "speech/qos=low/bob<speech/qos=low *=2");
  EXPECT_EQ(queue_of(import.snapshot, "2"), "speech/qos=low/bob");
  EXPECT_EQ(queue_of(import.snapshot, "3"), "speech");
}

TEST(SlurmQos, AllThreeLimitsAreATree) {
  const char* const kAll = "Name|GrpTRES|MaxTRESPA|MaxTRESPU\nlow|gres/gpu=9|gres/gpu=4|gres/gpu=2\n";
  const io::SlurmImport import = with(kAll, {{"a", "ann", "low"}, {"a", "bob", "low"}, {"b", "ann", "low"}});
  EXPECT_EQ(queues(import.snapshot),
            "qos=low< *=9; qos=low/a<qos=low *=4; qos=low/a/ann<qos=low/a *=2; qos=low/a/bob<qos=low/a *=2; qos=low/b<qos=low *=4; "
            "qos=low/b/ann<qos=low/b *=2");
  EXPECT_TRUE(noted(import, "user with jobs of one QOS in several accounts"));
  // Without a limit of accounts that of a user holds over all of them.
  const io::SlurmImport users = with("Name|GrpTRES|MaxTRESPU\nlow|gres/gpu=9|gres/gpu=2\n", {{"a", "ann", "low"}, {"b", "ann", "low"}});
  EXPECT_EQ(queues(users.snapshot), "qos=low< *=9; qos=low/ann<qos=low *=2");
  EXPECT_FALSE(noted(users, "several accounts"));
}

TEST(SlurmQos, AUserWithALimitInTheAccountKeepsIt) {
  const char* const kUser = "Account|User|GrpTRES\na||\na|ann|gres/gpu=3\n";
  const io::SlurmImport import = with(std::string(kUser) + "Name|MaxTRESPA|MaxTRESPU\nlow|gres/gpu=4|gres/gpu=2\n", {{"a", "ann", "low"}});
  EXPECT_EQ(queues(import.snapshot), "a<; a/ann<a *=3; a/ann/qos=low/ann<a/ann *=2");
  EXPECT_TRUE(noted(import, "1 job of a user with GrpTRES: MaxTRESPA of its QOS is left out (first: 1)"));
}

TEST(SlurmQos, AnAccountMayHaveTheNameOfAQueue) {
  const Snapshot s = with("Name|GrpTRES\nlow|gres/gpu=4\n", {{"qos=low", "ann", "high"}, {"a", "ann", "low"}}).snapshot;
  EXPECT_EQ(queues(s), "qos=low<; qos=low'< *=4");
  EXPECT_EQ(queue_of(s, "2"), "qos=low'");
}

}  // namespace
}  // namespace berth::test::slurm_qos_test
