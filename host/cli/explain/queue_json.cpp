#include "host/cli/explain/queue_json.hpp"

#include <string_view>

#include "host/core/state/state_view.hpp"
#include "host/io/formats/queue_rows.hpp"
#include "host/io/formats/schemas.hpp"

namespace berth::cli {
namespace {

using io::field;
using io::kRequired;

struct QueueDocument {
  TimeUs now_us = 0;
  std::vector<io::QueueRow> queues;
};

constexpr std::string_view kQueuesFormat = "berth.queues.v1";

constexpr io::Field<io::NotRead, QueueDocument> kQueueDocumentFields[] = {
    field<io::Constant<kQueuesFormat>>("schema", kRequired),
    field<io::Seconds, &QueueDocument::now_us>("now_s", kRequired),
    field<io::QueueRows, &QueueDocument::queues>("queues", kRequired),
};

}  // namespace

std::string queue_json(const ClusterState& state, const std::vector<QueueStanding>& standings) {
  io::JsonWriter w;
  io::Object<kQueueDocumentFields>::write(w, QueueDocument{StateView(state).now(), io::queue_rows(state, standings)});
  return w.finish();
}

std::string queues_schema() { return io::schema_of<kQueueDocumentFields>(kQueuesFormat, "What queues are entitled to, have and ask for"); }

}  // namespace berth::cli
