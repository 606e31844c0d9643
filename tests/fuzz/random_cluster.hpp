#pragma once

#include <vector>

#include "berth/delta.hpp"
#include "berth/snapshot.hpp"
#include "berth/state.hpp"
#include "tests/fuzz/bytes.hpp"

/// Small clusters with every feature of the model, and what may happen to them. Most are valid; those that are not are refused.
namespace berth::fuzz {

/// Jobs all wait: what runs, decisions started.
Snapshot random_cluster(Bytes& in);
Job random_job(Bytes& in, const Snapshot& cluster, const std::string& id);
std::vector<Delta> random_batch(Bytes& in, const Snapshot& now);

}  // namespace berth::fuzz
