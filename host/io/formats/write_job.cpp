#include "host/core/base/names.hpp"
#include "host/io/formats/write_parts.hpp"

namespace berth::io {
namespace {

// Writes `value` under `key` when it differs from its default.
template <class T, class Body>
void part(JsonWriter& w, std::string_view key, const T& value, Body&& body) {
  if (value == T{}) return;
  w.key(key);
  w.object([&] { body(value); });
}

void write_constraints(JsonWriter& w, const Constraints& c) {
  if (!c.labels.empty()) {
    w.key("labels");
    w.object([&] {
      for (const auto& label : c.labels)
        w.list(
            label.first, label.second, [&](const std::string& one) { w.string(one); }, true);
    });
  }
  w.strings("required_nodes", c.required_nodes);
  w.strings("excluded_nodes", c.excluded_nodes);
  w.number_unless("cpu_cores_per_gpu", c.cpu_milli_per_gpu, 0, 3);
  w.number_unless("memory_bytes_per_gpu", c.memory_bytes_per_gpu, 0);
  w.number_unless("gpu_memory_bytes", c.gpu_memory_bytes, 0);
  w.list("longest_wait", c.longest_wait, [&](const auto& wait) {
    w.object([&] {
      write_level(w, wait.first);
      w.number("wait_s", wait.second, 6);
    });
  });
}

void write_costs(JsonWriter& w, const Costs& c) {
  w.number_unless("restart_s", c.restart_us, 0, 6);
  if (c.checkpoint_every_us != 0 || c.checkpoint_save_us != 0 || c.checkpoint_restore_us != 0) {
    w.key("checkpoint");
    w.object([&] {
      w.number_unless("every_s", c.checkpoint_every_us, 0, 6);
      w.number_unless("save_s", c.checkpoint_save_us, 0, 6);
      w.number_unless("restore_s", c.checkpoint_restore_us, 0, 6);
    });
  }
  w.number_unless("scale_s", c.scale_us, 0, 6);
  w.number_unless("migrate_s", c.migrate_us, 0, 6);
}

void write_preemption(JsonWriter& w, const Preemption& p) {
  w.number_unless("class", p.preemption_class, 0);
  w.flag_unless("preemptible", p.preemptible, true);
  w.number_unless("minimum_run_s", p.minimum_run_us, 0, 6);
  w.number_unless("grace_s", p.grace_us, 0, 6);
  w.number_unless("guaranteed_until_s", p.guaranteed_until_us, 0, 6);
}

void write_allocation(JsonWriter& w, const Allocation& a) {
  w.text("shape", a.shape);
  w.list(
      "entries", a.entries,
      [&](const AllocationEntry& e) {
        w.object([&] {
          w.text_unless("group", e.group, "");
          w.number("member", e.member);
          w.text("node", e.node);
          w.list(
              "gpus", e.gpus, [&](std::int32_t index) { w.integer(index); }, true);
          w.number_unless("share", e.share_ppm, kWholeGpu, 6);
          w.flag_unless("time_shared", e.time_shared, false);
        });
      },
      true);
}

void write_demands(JsonWriter& w, const Job& job) {
  w.number_unless("time_limit_s", job.time_limit_us, kNever, 6);
  part(w, "deadline", job.deadline, [&](const Deadline& d) {
    w.number_unless("at_s", d.at_us, kNever, 6);
    w.flag_unless("hard", d.hard, false);
    w.number_unless("value", d.value, 0);
  });
  part(w, "estimate", job.estimate, [&](const Estimate& e) {
    w.number_unless("run_s", e.run_us, kNever, 6);
    w.number_unless("p50_s", e.p50_us, kNever, 6);
    w.number_unless("p90_s", e.p90_us, kNever, 6);
    w.text_unless("source", e.source, "");
  });
  w.list(
      "shapes", job.shapes, [&](const Shape& shape) { write(w, shape); }, true);
  w.flag_unless("sharing", job.sharing, false);
  part(w, "constraints", job.constraints, [&](const Constraints& c) { write_constraints(w, c); });
  part(w, "costs", job.costs, [&](const Costs& c) { write_costs(w, c); });
  part(w, "preemption", job.preemption, [&](const Preemption& p) { write_preemption(w, p); });
}

}  // namespace

void write(JsonWriter& w, const Job& job) {
  w.object([&] {
    w.text("id", job.id);
    w.text_unless("user", job.user, "");
    w.text_unless("tenant", job.tenant, "");
    w.text_unless("queue", job.queue, "");
    w.text_unless("virtual_cluster", job.virtual_cluster, "");
    w.number("submit_s", job.submit_us, 6);
    w.number_unless("priority", job.priority, 0);
    w.number_unless("weight", job.weight_ppm, 1'000'000, 6);
    if (job.kind != JobKind::kTraining) w.text("kind", core::name(job.kind));
    w.text("state", core::name(job.state));
    write_demands(w, job);
    if (job.profile != Profile{}) w.key("profile"), write(w, job.profile);
    if (job.progress != Progress{}) w.key("progress"), write(w, job.progress);
    part(w, "allocation", job.allocation, [&](const Allocation& a) { write_allocation(w, a); });
    w.number_unless("lease_end_s", job.lease_end_us, kNever, 6);
    w.number_unless("last_assignment_s", job.last_assignment_us, kNever, 6);
    w.number_unless("waiting_since_s", job.waiting_since_us, kNever, 6);
    w.extensions(job.x);
  });
}

void write(JsonWriter& w, const FinishedJob& job) {
  w.object([&] {
    w.text("id", job.id);
    w.text_unless("user", job.user, "");
    w.text_unless("virtual_cluster", job.virtual_cluster, "");
    w.number_unless("gpus", job.gpus, 0);
    w.number_unless("submit_s", job.submit_us, 0, 6);
    w.number_unless("run_s", job.run_us, 0, 6);
    w.text_unless("status", job.status, "");
  });
}

}  // namespace berth::io
