#pragma once

#include <map>
#include <string>
#include <string_view>

#include "berth/snapshot.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/kueue/kueue_flavors.hpp"
#include "host/io/kueue/kueue_objects.hpp"

namespace berth::io::kueue {

/// What became of the ClusterQueues.
struct QueueIndex {
  struct Entry {
    const ClusterQueueObject* object = nullptr;
    bool preemptible = false;  ///< whether Kueue may preempt workloads of it
  };
  std::map<std::string_view, Entry> entries;  ///< by name; a ClusterQueue's name is the queue's id
};

/// Adds Cohorts and the ClusterQueues below them as a tree of queues.
/// @throws InputError for cohorts that are no tree.
QueueIndex add_queues(const KueueObjects& objects, const Flavors& flavors, Snapshot& snapshot, ImportNotes& notes);

}  // namespace berth::io::kueue
