#pragma once

#include <vector>

#include "berth/delta.hpp"
#include "berth/snapshot.hpp"
#include "berth/state.hpp"
#include "tests/fuzz/bytes.hpp"

/// Small clusters with every feature of the model, and events on them. Most are valid; invalid ones are rejected.
namespace berth::fuzz {

/// All jobs wait: decisions start those that run.
Snapshot random_cluster(Bytes& in);
Job random_job(Bytes& in, const Snapshot& cluster, const std::string& id);
std::vector<Delta> random_batch(Bytes& in, const Snapshot& now);

}  // namespace berth::fuzz
