#pragma once

#include "berth/snapshot.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/kueue/kueue_flavors.hpp"
#include "host/io/kueue/kueue_objects.hpp"
#include "host/io/kueue/kueue_places.hpp"
#include "host/io/kueue/kueue_queues.hpp"

namespace berth::io::kueue {

/// Turns every workload with GPUs into a gang. The GPUs of admitted ones that become no job are blocked.
void add_jobs(const KueueObjects& objects, const Flavors& flavors, const QueueIndex& queues, Places& places, Snapshot& snapshot,
              ImportNotes& notes);

}  // namespace berth::io::kueue
