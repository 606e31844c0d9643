#include "host/io/topology/topology_formats.hpp"

#include <array>

namespace berth::io {

std::span<const TopologyReader> topology_readers() {
  static constexpr std::array<TopologyReader, 4> kAll{{
      {.name = "kueue",
       .help = "a cluster of Kueue as it is now, to berth.snapshot.v1",
       .files = "ClusterQueues, Workloads, Topologies and Nodes, from kubectl get -A -o json or yaml. See docs/kueue.md",
       .read = read_kueue},
      {.name = "lingjun",
       .help = "the switches of Alibaba's Lingjun cluster, to berth.snapshot.v1",
       .files = "topo.csv",
       .read = read_lingjun},
      {.name = "topograph",
       .help = "the graph of NVIDIA topograph, to berth.snapshot.v1",
       .files = "the JSON of its engine 'graph'",
       .read = read_topograph},
      {.name = "volcano",
       .help = "Volcano's HyperNodes, to berth.snapshot.v1",
       .files = "kubectl get hypernodes,nodes -o json, or YAML",
       .read = read_volcano},
  }};
  return kAll;
}

std::span<const TopologyWriter> topology_writers() {
  static constexpr std::array<TopologyWriter, 5> kAll{{
      {.name = "slurm-conf", .help = "Slurm's topology.conf: switches, or blocks where there are none", .write = write_slurm_conf},
      {.name = "slurm-yaml", .help = "Slurm's topology.yaml: switches and blocks", .write = write_slurm_yaml},
      {.name = "topograph", .help = "the graph JSON of NVIDIA topograph", .write = write_topograph},
      {.name = "labels", .help = "nodes of Kubernetes with a label for each level; Kueue's Topology", .write = write_labels},
      {.name = "hypernodes", .help = "Volcano's HyperNodes", .write = write_hypernodes},
  }};
  return kAll;
}

}  // namespace berth::io
