#pragma once

#include <set>
#include <string>

#include "berth/snapshot.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/kai/kai_cluster.hpp"
#include "host/io/kai/kai_gpus.hpp"
#include "host/io/kai/kai_objects.hpp"

namespace berth::io::kai {

/// Pods that became members of a job, by path.
using MemberPods = std::set<std::string>;

/// Turns every pod group that is supported into a gang.
MemberPods add_jobs(const KaiObjects& objects, const Cluster& cluster, const Held& held, Snapshot& snapshot, ImportNotes& notes);

}  // namespace berth::io::kai
