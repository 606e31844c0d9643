#pragma once

#include <string>
#include <vector>

#include "berth/queues.hpp"
#include "host/io/fields/kinds.hpp"

/// Rows of queues in documents: docs/formats/queues.md.
namespace berth::io {

/// A standing, with names in the place of indices.
struct QueueRow {
  std::string queue, gpu_type;
  QueueStanding standing;
};
std::vector<QueueRow> queue_rows(const ClusterState& state, const std::vector<QueueStanding>& standings);

template <auto Member>
constexpr auto kStandingOf = [](const QueueRow& row) { return row.standing.*Member; };

struct KnownLimit : Millionths {
  static bool absent(std::int64_t limit) { return limit < 0; }
};
struct KeptPart : Millionths {
  static bool absent(std::int64_t gpus) { return gpus == 0; }
};
struct KnownShare : Millionths {
  static bool absent(std::int64_t share) { return share < 0; }
};
struct KnownInstant : Seconds {
  static bool absent(TimeUs at) { return at == kNever; }
};

inline constexpr Field<NotRead, QueueRow> kQueueRowFields[] = {
    field<Id, &QueueRow::queue>("queue", kRequired),
    field<Name, &QueueRow::gpu_type>("gpu_type", kRequired, "* for all types together"),
    field<Millionths, kStandingOf<&QueueStanding::guarantee>>("guarantee", kRequired,
                                                              "its own, or the sum of its children's if that is more"),
    field<KnownLimit, kStandingOf<&QueueStanding::limit>>("limit", kOptional, "omitted where there is none"),
    field<KeptPart, kStandingOf<&QueueStanding::keeps>>(
        "keeps", kOptional, "of the guarantee, used or not, so that others do not get it; omitted where that is 0"),
    field<Millionths, kStandingOf<&QueueStanding::entitled>>("entitled", kRequired, "of the guarantees, as far as jobs ask for them"),
    field<Millionths, kStandingOf<&QueueStanding::fair_share>>("fair_share", kRequired),
    field<Millionths, kStandingOf<&QueueStanding::has>>("has", kRequired),
    field<Millionths, kStandingOf<&QueueStanding::waiting>>("waiting", kRequired, "what waiting jobs ask for"),
    field<KnownShare, kStandingOf<&QueueStanding::dominant_share>>(
        "dominant_share", kOptional, "of all types: the largest of the parts of GPUs, cores and memory that its jobs hold"),
    field<KnownShare, kStandingOf<&QueueStanding::fair_dominant_share>>("fair_dominant_share", kOptional,
                                                                        "omitted where nodes state neither cores nor memory"),
    field<KnownInstant, kStandingOf<&QueueStanding::starved_since>>("starved_since_s", kOptional,
                                                                    "omitted where no job waits that the queue is entitled to"),
};
using QueueRows = Lines<Object<kQueueRowFields>>;

}  // namespace berth::io
