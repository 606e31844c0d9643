#include "host/cli/explain/queue_json.hpp"

#include <string_view>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_view.hpp"
#include "host/io/formats/schemas.hpp"

namespace berth::cli {
namespace {

using io::field;
using io::kOptional;
using io::kRequired;

// A row of the document, with names in the place of indices.
struct QueueRow {
  std::string queue, gpu_type;
  const core::QueueStanding& standing;
};
struct QueueDocument {
  TimeUs now_us = 0;
  std::vector<QueueRow> queues;
};

template <class Row>
using QueueRowField = io::Field<io::NotRead, Row>;
template <auto Member>
constexpr auto kOf = [](const QueueRow& row) { return row.standing.*Member; };

struct KnownLimit : io::Millionths {
  static bool absent(std::int64_t limit) { return limit < 0; }
};
struct KnownInstant : io::Seconds {
  static bool absent(TimeUs at) { return at == kNever; }
};

constexpr QueueRowField<QueueRow> kQueueFields[] = {
    field<io::Id, &QueueRow::queue>("queue", kRequired),
    field<io::Name, &QueueRow::gpu_type>("gpu_type", kRequired, "* for all types together"),
    field<io::Millionths, kOf<&core::QueueStanding::guarantee>>("guarantee", kRequired,
                                                                "its own, or the sum of its children's if that is more"),
    field<KnownLimit, kOf<&core::QueueStanding::limit>>("limit", kOptional, "omitted where there is none"),
    field<io::Millionths, kOf<&core::QueueStanding::entitled>>("entitled", kRequired, "of the guarantees, as far as jobs ask for them"),
    field<io::Millionths, kOf<&core::QueueStanding::fair_share>>("fair_share", kRequired),
    field<io::Millionths, kOf<&core::QueueStanding::has>>("has", kRequired),
    field<io::Millionths, kOf<&core::QueueStanding::waiting>>("waiting", kRequired, "what waiting jobs ask for"),
    field<KnownInstant, kOf<&core::QueueStanding::starved_since>>("starved_since_s", kOptional,
                                                                  "omitted where no job waits that the queue is entitled to"),
};

constexpr std::string_view kQueuesFormat = "berth.queues.v1";

constexpr QueueRowField<QueueDocument> kQueueDocumentFields[] = {
    field<io::Constant<kQueuesFormat>>("schema", kRequired),
    field<io::Seconds, &QueueDocument::now_us>("now_s", kRequired),
    field<io::Lines<io::Object<kQueueFields>>, &QueueDocument::queues>("queues", kRequired),
};

}  // namespace

std::string queue_json(const ClusterState& state, const std::vector<core::QueueStanding>& standings) {
  const StateView view(state);
  QueueDocument document{view.now(), {}};
  for (const core::QueueStanding& one : standings) {
    document.queues.push_back(
        {view.queues()[to_index(one.queue)].id, one.gpu_type < 0 ? "*" : view.gpu_types()[to_index(one.gpu_type)].id, one});
  }
  io::JsonWriter w;
  io::Object<kQueueDocumentFields>::write(w, document);
  return w.finish();
}

std::string queues_schema() { return io::schema_of<kQueueDocumentFields>(kQueuesFormat, "What queues are entitled to, have and ask for"); }

}  // namespace berth::cli
