// Bandwidth, oversubscription, parallel and failed links, by hand.
#include "host/io/topology/apply_links.hpp"

#include "tests/unit/io/topology/topology_support.hpp"

namespace berth::test::apply_links_test {
namespace {

constexpr std::int64_t kGB = 1'000'000'000;

io::TopologyModel with_links(const std::string& conf, const io::LinkOptions& options) {
  io::TopologyModel model = slurm_model(conf);
  io::apply_links(options, model);
  return model;
}

}  // namespace

TEST(ApplyLinks, SpinesOfTheSameLeavesAreOneDomainWithParallelLinks) {
  const io::TopologyModel model = with_links(kNvl72Conf, {.bytes_per_s = {{"leaf", 50 * kGB}}});

  EXPECT_EQ(model.of(TopologyKind::kSwitch).size(), 5u);
  EXPECT_EQ(domain_at(model, "spine1").parallel, std::vector<std::string>{"spine2"});
  EXPECT_EQ(domain_at(model, "spine1").working, 2);
  EXPECT_EQ(domain_at(model, "spine1/leaf4").uplink_bytes_per_s, 100 * kGB) << "one link to each spine";
  EXPECT_EQ(model.nodes.size(), 72u);
}

TEST(ApplyLinks, OversubscriptionIsFromBelowOverUp) {
  const io::TopologyModel model =
      with_links(kNvl72Conf, {.nics = 8, .bytes_per_s = {{"node", 50 * kGB}, {"leaf", 900 * kGB}}, .links = {{"leaf", 2}}});

  // 18 nodes of 8 NICs: 7,200 GB/s from below, 2 spines * 2 links * 900 GB/s up.
  EXPECT_EQ(domain_at(model, "spine1/leaf1").uplink_bytes_per_s, 3600 * kGB);
  EXPECT_EQ(domain_at(model, "spine1/leaf1").oversubscription_ppm, 2'000'000);
  EXPECT_EQ(model.nodes[0].nics, 8);
  EXPECT_EQ(model.nodes[0].nic_bytes_per_s, 50 * kGB);
}

TEST(ApplyLinks, ARatioGivesTheUplink) {
  const io::TopologyModel model =
      with_links(kNvl72Conf, {.bytes_per_s = {{"node", 100 * kGB}}, .oversubscription_ppm = {{"leaf", 3'000'000}}});

  EXPECT_EQ(domain_at(model, "spine1/leaf1").uplink_bytes_per_s, 600 * kGB);
  EXPECT_EQ(domain_at(model, "spine1/leaf1").oversubscription_ppm, 3'000'000);
  EXPECT_EQ(domain_at(with_links(kNvl72Conf, {.oversubscription_ppm = {{"leaf", 3'000'000}}}), "spine1/leaf1").uplink_bytes_per_s, 0)
      << "no NIC is known";
}

TEST(ApplyLinks, AFailedSpineTakesItsLinks) {
  const io::TopologyModel model =
      with_links(kNvl72Conf, {.nics = 1, .bytes_per_s = {{"node", 50 * kGB}, {"leaf", 450 * kGB}}, .failed = {"spine2"}});

  EXPECT_EQ(domain_at(model, "spine1").working, 1);
  EXPECT_EQ(domain_at(model, "spine1/leaf1").uplink_bytes_per_s, 450 * kGB);
  EXPECT_EQ(domain_at(model, "spine1/leaf1").oversubscription_ppm, 2'000'000);
  EXPECT_EQ(model.nodes[0].state, NodeState::kReady);
}

TEST(ApplyLinks, NodesWithoutAWayUpHaveFailed) {
  const io::TopologyModel leaf = with_links(kNvl72Conf, {.failed = {"leaf1"}}),
                          spines = with_links(kNvl72Conf, {.failed = {"spine1", "spine2"}});
  const auto failed = [](const io::TopologyModel& model) {
    return std::count_if(model.nodes.begin(), model.nodes.end(),
                         [](const io::ModelNode& node) { return node.state == NodeState::kFailed; });
  };

  EXPECT_EQ(failed(leaf), 18);
  EXPECT_EQ(leaf.nodes[0].state, NodeState::kFailed);
  EXPECT_EQ(failed(spines), 72);
}

TEST(ApplyLinks, FailedLinksLeaveTheOthers) {
  const io::TopologyModel model =
      with_links(kNvl72Conf, {.bytes_per_s = {{"leaf", 50 * kGB}}, .links = {{"leaf", 2}}, .failed_links = {{"leaf3", 1}}});

  EXPECT_EQ(domain_at(model, "spine1/leaf3").uplink_bytes_per_s, 150 * kGB);
  EXPECT_EQ(domain_at(model, "spine1/leaf1").uplink_bytes_per_s, 200 * kGB);
  EXPECT_EQ(refusal_of([] {
              with_links(kNvl72Conf, {.failed_links = {{"leaf3", 2}}});
            }),
            "--failed-links: 'spine1/leaf3' has 2 links up, and none is left: give it with --failed instead");
}

TEST(ApplyLinks, LinkSpeedsAreRelativeToTheFastestOfTheirLevel) {
  const io::TopologyModel model =
      with_links("SwitchName=a Nodes=n1 LinkSpeed=100\nSwitchName=b Nodes=n2 LinkSpeed=50\nSwitchName=s Switches=a,b\n",
                 {.bytes_per_s = {{"leaf", 80 * kGB}}});

  EXPECT_EQ(domain_at(model, "s/a").uplink_bytes_per_s, 80 * kGB);
  EXPECT_EQ(domain_at(model, "s/b").uplink_bytes_per_s, 40 * kGB);
  EXPECT_EQ(refusal_of([] { slurm_model("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2 LinkSpeed=0\n"); }),
            "in:2: the links of 'b' have no capacity: LinkSpeed=0");
}

TEST(ApplyLinks, LevelsAndSwitchesThatAreNotThereAreRefused) {
  const auto refused = [](const io::LinkOptions& options) { return refusal_of([&] { with_links(kNvl72Conf, options); }); };
  EXPECT_EQ(refused({.bytes_per_s = {{"laef", 1}}}), "--bandwidth: there is no level 'laef' (levels: leaf, spine); did you mean 'leaf'?");
  EXPECT_EQ(refused({.links = {{"node", 1}}}), "--links: there is no level 'node' (levels: leaf, spine)");
  EXPECT_EQ(refused({.failed = {"x"}}), "--failed: there is no switch 'x'");
  EXPECT_EQ(refused({.bytes_per_s = {{"leaf", 1}}, .oversubscription_ppm = {{"leaf", 1}}}),
            "level 'leaf' has --bandwidth and --oversubscription: one follows from the other");
}

TEST(ApplyLinks, ANameInSeveralPlacesNeedsItsPath) {
  const auto model = [] { return read_text(io::read_lingjun, "ip,DSW,PSW,ASW\nh1,D,P1,S1\nh2,D,P2,S1\n"); };
  io::TopologyModel failed = model();
  io::apply_links({.failed = {"D/P2/S1"}}, failed);

  EXPECT_EQ(failed.nodes[0].state, NodeState::kReady);
  EXPECT_EQ(failed.nodes[1].state, NodeState::kFailed);
  EXPECT_EQ(refusal_of([&] {
              io::TopologyModel other = model();
              io::apply_links({.failed = {"S1"}}, other);
            }),
            "--failed: several switches are called 'S1': give the path, such as parent/S1");
}

}  // namespace berth::test::apply_links_test
