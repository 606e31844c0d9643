#pragma once

#include <map>
#include <string>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/io/topology/apply_links.hpp"

namespace berth::io {

/// One file, JSON or YAML.
struct KueueInput {
  std::string name;  ///< for errors
  std::string text;
};

struct KueueOptions {
  LinkOptions links = {};             ///< what the objects do not say of the network
  NodeDefaults nodes = {};            ///< for nodes without a count of GPUs
  std::string topology = {};          ///< of several Topology objects, the one of this name
  const Snapshot* cluster = nullptr;  ///< its nodes, where the objects have none
};

struct KueueImport {
  Snapshot snapshot;
  std::vector<std::string> notes;               ///< assumptions and omissions, counted by cause
  std::map<std::string, std::string> left_out;  ///< workloads that are no jobs, by namespace/name, and why
};

/// Creates a snapshot from objects of Kueue and nodes as kubectl prints them; docs/kueue.md describes the translation.
///
/// Without queues and workloads it is a topology: nodes in domains.
/// Time 0 is 1970-01-01 UTC. `now` is the latest instant in the objects, so the result is deterministic.
/// @throws InputError naming file, line, JSON pointer and value; InvalidArgument for options that do not fit the objects.
KueueImport import_kueue(const std::vector<KueueInput>& inputs, const KueueOptions& options = {});

}  // namespace berth::io
