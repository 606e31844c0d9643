#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/io/slurm/slurm_accounts.hpp"
#include "tests/unit/io/slurm/slurm_support.hpp"

namespace berth::test::slurm_accounts_test {
namespace {

/// Jobs of (account, user, qos) and two nodes, with what sacctmgr or scontrol prints.
struct Member {
  std::string account, user = "ann", qos = "normal";
};
io::SlurmImport with(const std::string& accounts, const std::vector<Member>& members) {
  std::vector<SlurmRow> rows;
  int id = 1;
  for (const Member& one : members)
    rows.push_back(job22(id++).text("account", one.account).text("user_name", one.user).text("qos", one.qos));
  return imported(jobs22(rows) + nodes22({node22("n1"), node22("n2")}) + accounts);
}
std::string problem_with(const std::string& accounts) { return refusal(nodes22({node22("n1")}) + accounts); }

const Queue* find_queue(const Snapshot& snapshot, const std::string& id) {
  for (const Queue& queue : snapshot.queues) {
    if (queue.id == id) return &queue;
  }
  return nullptr;
}
/// "parent weight type=limit ..."
std::string shown(const Snapshot& snapshot, const std::string& id) {
  const Queue* const queue = find_queue(snapshot, id);
  if (queue == nullptr) return "none";
  std::string text = queue->parent + " " + std::to_string(queue->weight_ppm);
  for (const Quota& one : queue->quotas) text += " " + one.gpu_type + "=" + std::to_string(one.limit);
  return text;
}

const char* const kTree =
    "Cluster|Account|User|Partition|ParentName|Share|GrpTRES|MaxWall\n"
    "c|root||||1||\n"
    "c|root|root|||1||\n"
    "c|lab|||root|20|cpu=90,gres/gpu=12,gres/gpu:h100=8|\n"
    "c|vision|||lab|3|gres/gpu=6|\n"
    "c|vision|ann|||parent||\n"
    "c|vision|bob|||1|gres/gpu=2|\n"
    "c|speech|||lab|parent||\n"
    "c|idle|||root|1||\n";

TEST(SlurmAccounts, AssociationsAreATreeOfQueues) {
  const io::SlurmImport import = with(kTree, {{"vision"}, {"vision", "bob"}, {"speech"}, {"other"}});
  const Snapshot& s = import.snapshot;
  EXPECT_EQ(shown(s, "lab"), " 20000000 *=12 h100=8");
  EXPECT_EQ(shown(s, "vision"), "lab 3000000 *=6");
  EXPECT_EQ(shown(s, "speech"), "lab 1000000");
  EXPECT_EQ(shown(s, "other"), " 1000000");
  EXPECT_EQ(shown(s, "root"), "none");
  EXPECT_EQ(shown(s, "idle"), "none");
  EXPECT_TRUE(noted(import, "1 account without an association: a queue without limits (first: other)"));
  EXPECT_TRUE(noted(import, "1 queue with Fairshare=parent: weight 1 (first: speech)"));
}

TEST(SlurmAccounts, AUserWithALimitHasAQueue) {
  const Snapshot s = with(kTree, {{"vision"}, {"vision", "bob"}}).snapshot;
  EXPECT_EQ(find_job(s, "1")->queue, "vision");
  EXPECT_EQ(find_job(s, "2")->queue, "vision/bob");
  EXPECT_EQ(shown(s, "vision/bob"), "vision 1000000 *=2");
}

TEST(SlurmAccounts, ColumnsComeInAnyOrderAndEndWithABar) {
  const Snapshot s = with("GrpTRES|ParentName|Account|User|\ngres/gpu=4|top|a||\ngres/gpu=9|root|top||\n", {{"a"}}).snapshot;
  EXPECT_EQ(shown(s, "a"), "top 1000000 *=4");
  EXPECT_EQ(shown(s, "top"), " 1000000 *=9");
}

TEST(SlurmAccounts, ATreeMayBeIndented) {
  const Snapshot s =
      with("Account|User|Share\nroot||1\n lab||1\n  vision||2\n  speech||3\n other||1\n", {{"vision"}, {"speech"}, {"other"}}).snapshot;
  EXPECT_EQ(shown(s, "vision"), "lab 2000000");
  EXPECT_EQ(shown(s, "speech"), "lab 3000000");
  EXPECT_EQ(shown(s, "lab"), " 1000000");
  EXPECT_EQ(shown(s, "other"), " 1000000");
}

TEST(SlurmAccounts, WithoutParentsThereIsNoTree) {
  const io::SlurmImport import = with("Account|User|GrpTRES\nroot||\nlab||gres/gpu=4\n", {{"lab"}});
  EXPECT_EQ(shown(import.snapshot, "lab"), " 1000000 *=4");
  EXPECT_TRUE(noted(import, "accounts form no tree; add ParentName"));
}

TEST(SlurmAccounts, AnUnknownParentIsNoted) {
  const io::SlurmImport import = with("Account|User|ParentName|GrpTRES\nroot|||\nlab||gone|gres/gpu=4\n", {{"lab"}});
  EXPECT_EQ(shown(import.snapshot, "lab"), " 1000000 *=4");
  EXPECT_TRUE(noted(import, "below one that has no association"));
}

TEST(SlurmAccounts, TheRootIsAQueueWhereItHasLimits) {
  const Snapshot s = with("Account|User|ParentName|GrpTRES\nroot|||gres/gpu=10\nlab||root|\n", {{"lab"}}).snapshot;
  EXPECT_EQ(shown(s, "lab"), "root 1000000");
  EXPECT_EQ(shown(s, "root"), " 1000000 *=10");
}

TEST(SlurmAccounts, WithoutTheirOutputNothingChanges) {
  const io::SlurmImport import = with("", {{"vision"}});
  EXPECT_EQ(shown(import.snapshot, "vision"), " 1000000");
  EXPECT_EQ(find_job(import.snapshot, "1")->preemption, Preemption());
  EXPECT_FALSE(noted(import, "qos"));
  EXPECT_FALSE(noted(import, "QOS"));
}

const char* const kQos =
    "Name|Priority|GraceTime|Preempt|PreemptExemptTime|PreemptMode|UsageFactor|GrpTRES|MaxTRESPU|MaxWall|MinTRES\n"
    "low|0|00:00:00||00:30:00|requeue|0.500000||||\n"
    "normal|10|00:01:00|low||cluster|1.000000||||\n"
    "high|100|00:00:00|low,normal||suspend,gang|10.000000|gres/gpu=8|gres/gpu=2|00:20:00|gres/gpu=1\n";

TEST(SlurmAccounts, AQosIsAClassWithItsTimes) {
  const io::SlurmImport import = with(kQos, {{"a", "ann", "low"}, {"a", "ann", "normal"}, {"a", "ann", "high"}, {"a", "ann", "odd"}});
  const auto of = [&](const char* id) { return find_job(import.snapshot, id)->preemption; };
  EXPECT_EQ(of("1").preemption_class, 0);
  EXPECT_EQ(of("1").minimum_run_us, 1800 * kSecond);
  EXPECT_EQ(of("2").preemption_class, 1);
  EXPECT_EQ(of("2").grace_us, 60 * kSecond);
  EXPECT_EQ(of("2").minimum_run_us, 0);
  EXPECT_EQ(of("3").preemption_class, 2);
  EXPECT_EQ(of("4"), Preemption());
  EXPECT_EQ(find_job(import.snapshot, "2")->time_limit_us, 3600 * kSecond);
  EXPECT_EQ(find_job(import.snapshot, "3")->time_limit_us, 1200 * kSecond);
  EXPECT_EQ(find_job(import.snapshot, "3")->estimate.run_us, 1200 * kSecond);
  EXPECT_TRUE(noted(import, "2 QOS records with a UsageFactor other than 1: left out (first: low)"));
  EXPECT_TRUE(noted(import, "with MinTRES of GPUs"));
  EXPECT_TRUE(noted(import, "whose jobs are suspended"));
  EXPECT_TRUE(noted(import, "with gang scheduling"));
  EXPECT_FALSE(noted(import, "cancelled"));
  EXPECT_TRUE(noted(import, "1 job of a QOS that is not listed: none of its rules are known (first: 4)"));
}

TEST(SlurmAccounts, LimitsOfNumbersOfJobsAreNoted) {
  EXPECT_TRUE(noted(with("Name|GrpJobs|MaxJobsPU\na||\nb||4\n", {{"x", "ann", "a"}}),
                    "1 QOS record with a limit of numbers of jobs, which is left out (first: b)"));
  EXPECT_TRUE(noted(with("Account|User|MaxSubmit\nx||9\n", {{"x"}}),
                    "1 association with a limit of numbers of jobs, which is left out (first: x)"));
}

TEST(SlurmAccounts, PreemptListsThatAreNoOrderAreNoted) {
  const io::SlurmImport circle = with("Name|Preempt\na|b\nb|a\n", {{"x", "ann", "a"}, {"x", "ann", "b"}});
  EXPECT_TRUE(noted(circle, "QOS preempt each other in a circle"));
  const io::SlurmImport part = with("Name|Preempt\na|\nb|\nc|a\n", {{"x", "ann", "c"}});
  EXPECT_TRUE(noted(part, "that may preempt some smaller ones and not others: taken to preempt all of them (first: c)"));
}

TEST(SlurmAccounts, PreemptListsLeaveOutWhatIsNoQos) {
  const io::SlurmImport typo = with("Name|Preempt\nlow|\nnormal|low\nhigh|lov,normal\n", {{"x", "ann", "high"}});
  EXPECT_TRUE(noted(typo, "1 QOS record whose Preempt names a QOS that does not exist, which is left out (first: high: lov)"));
  EXPECT_FALSE(noted(typo, "that may preempt some smaller ones"));
  EXPECT_EQ(find_job(typo.snapshot, "1")->preemption.preemption_class, 2);
  // Alone it gives no right to preempt anything.
  const io::SlurmImport alone = with("Name|Preempt\nlow|\nhigh|lov\n", {{"x", "ann", "high"}});
  EXPECT_EQ(find_job(alone.snapshot, "1")->preemption.preemption_class, 0);
  EXPECT_FALSE(noted(alone, "that may preempt some smaller ones"));
}

TEST(SlurmAccounts, TablesAndDocumentsFollowOneAnother) {
  const std::string jobs = jobs22({job22(1).text("account", "vision").text("qos", "high")});
  EXPECT_NE(refusal(kTree + jobs + kTree + nodes22({node22("n1")})).find("a second association of account"), std::string::npos);
  const Snapshot once = imported(std::string("now=5000\n") + kQos + kTree + jobs + nodes22({node22("n1")})).snapshot;
  EXPECT_EQ(shown(once, "vision"), "lab 3000000 *=6");
  EXPECT_EQ(find_job(once, "1")->preemption.preemption_class, 2);
}

TEST(SlurmAccounts, AssocMgrIsRead) {
  const char* const text =
      "Current Association Manager state\n\nUser Records\n\nUserName=ann(1001) DefAccount=lab DefWckey= AdminLevel=None\n\n"
      "Association Records\n\n"
      "ClusterName=c Account=root UserName= Partition= Priority=0 ID=1\n    SharesRaw/Norm/Level/Factor=1/0.00/3/0.00\n    ParentAccount= "
      "Lft-Rgt=1-6 DefAssoc=No\n"
      "    GrpTRES=cpu=N(0),gres/gpu=N(4)\n"
      "ClusterName=c Account=lab UserName= Partition= Priority=0 ID=2\n    SharesRaw/Norm/Level/Factor=5/0.10/3/0.00\n    "
      "ParentAccount=root(1) Lft-Rgt=2-5 DefAssoc=No\n"
      "    GrpTRES=cpu=N(64),gres/gpu=8(4),gres/gpu:h100=4(0)\n    GrpTRESMins=cpu=N(9),gres/gpu=6000(120)\n    MaxWallPJ=90\n"
      "ClusterName=c Account=lab UserName=ann(1001) Partition= Priority=0 ID=3\n    SharesRaw/Norm/Level/Factor=4294967295/0.10/3/0.00\n   "
      " ParentAccount=\n    GrpTRES=gres/gpu=3(0)\n    GrpJobs=7(1) GrpSubmitJobs=N(1)\n"
      "\nQOS Records\n\nQOS=normal(1)\n    GrpJobs=N(2)\n    UsageRaw=0.00\n    GrpTRES=cpu=N(0),gres/gpu=N(4)\n    MaxWallPJ=30\n    "
      "PreemptMode=OFF\n    "
      "Priority=0\n"
      "    User Limits\n      ann(1001)\n        MaxTRESPU=gres/gpu=16(4)\n";
  const io::SlurmImport import = with(text, {{"lab"}, {"lab", "bob"}});
  const Snapshot& s = import.snapshot;
  EXPECT_EQ(shown(s, "lab"), " 5000000 *=8 h100=4");
  EXPECT_EQ(shown(s, "lab/ann"), "lab 1000000 *=3");
  EXPECT_EQ(find_job(s, "1")->time_limit_us, 1800 * kSecond);
  EXPECT_TRUE(noted(import, "1 association with a limit of numbers of jobs, which is left out (first: lab/ann)"));
  EXPECT_FALSE(noted(import, "QOS record with a limit of numbers"));
  EXPECT_TRUE(noted(import, "1 association with a limit of GPU minutes, which is left out (first: lab)"));
  EXPECT_EQ(find_job(s, "1")->queue, "lab/ann/qos=normal/ann");
  EXPECT_EQ(shown(s, "lab/qos=normal/bob"), "lab 1000000 *=16");
}

TEST(SlurmAccounts, WrongTablesAreRefusedWhereTheyStand) {
  EXPECT_NE(problem_with("Account|User|GrpTRES\na||gres/gpu=x\n").find("'gres/gpu=x' is no limit of GPUs such as gres/gpu:h100=8"),
            std::string::npos);
  EXPECT_NE(problem_with("Account|User|GrpTRES\na||gres/gpu=8,cpu=1,gres/gpu=4\n").find("'gres/gpu' is there twice"), std::string::npos);
  EXPECT_NE(problem_with("Account|User|GrpTRES\na|\n").find("a row of 2 columns below a header of 3: use sacctmgr -P"), std::string::npos);
  EXPECT_NE(problem_with("Account|User|Share\na||-1\n").find("'-1' is no number of shares"), std::string::npos);
  EXPECT_NE(problem_with("Account|User\n|\n").find("an association without an account"), std::string::npos);
  EXPECT_NE(problem_with("Account|User|ParentName\na||b\nb||a\n").find("account 'a' is its own ancestor"), std::string::npos);
  EXPECT_NE(problem_with("Cluster|Account|User\nc|a|\nd|b|\n").find("associations of the clusters 'c' and 'd'"), std::string::npos);
  EXPECT_NE(problem_with("Name|GraceTime\nq|1:2:3:4\n").find("'1:2:3:4' is no duration such as 1-00:00:00"), std::string::npos);
  EXPECT_NE(problem_with("Name|Priority\nq|1\nq|2\n").find("a second QOS 'q'"), std::string::npos);
  EXPECT_NE(problem_with("Name|Priority\n|1\n").find("a QOS without a name"), std::string::npos);
  std::string deep = "Account|User|ParentName\n";
  for (int i = 0; i < 70; ++i) deep += "a" + std::to_string(i) + "||a" + std::to_string(i + 1) + "\n";
  EXPECT_NE(problem_with(deep).find("accounts stand above one another"), std::string::npos);
}

TEST(SlurmAccounts, DurationsAreThoseOfSlurm) {
  EXPECT_EQ(io::parse_slurm_duration(""), 0);
  EXPECT_EQ(io::parse_slurm_duration("90"), 5400);
  EXPECT_EQ(io::parse_slurm_duration("01:30"), 90);
  EXPECT_EQ(io::parse_slurm_duration("02:00:01"), 7201);
  EXPECT_EQ(io::parse_slurm_duration("1-12"), 129'600);
  EXPECT_EQ(io::parse_slurm_duration("2-00:00:30"), 172'830);
  for (const char* text : {"-", "x", "1:", "1-", "-1", "1:2:3:4", "9999999999"}) EXPECT_EQ(io::parse_slurm_duration(text), -1) << text;
}

}  // namespace
}  // namespace berth::test::slurm_accounts_test
