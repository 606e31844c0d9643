#include <fmt/format.h>

#include <bit>

#include "berth/io.hpp"
#include "host/core/base/names.hpp"
#include "host/core/state/state_view.hpp"
#include "host/io/formats/bound_json.hpp"
#include "host/io/formats/plan_shape.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::io {
namespace {

void write_entry(JsonWriter& w, const PlanEntry& e, const ClusterState& state, const Shape* shape) {
  w.object([&] {
    w.text("node", state.node(e.node).id);
    w.key("index");
    w.array([&] {
      for (std::uint64_t left = e.gpus; left != 0; left &= left - 1) w.integer(std::countr_zero(left));
    });
    if (shape != nullptr && !shape->groups.empty()) w.text("group", shape->groups.at(static_cast<std::size_t>(e.group)).name);
    w.number_unless("member", e.member, 0);
    w.number_unless("members", e.members, members_of(shape, e));
    w.number_unless("share", e.share_ppm, kWholeGpu, 6);
    w.flag_unless("time_shared", e.time_shared, false);
  });
}

void write_evidence(JsonWriter& w, const Reason& r, const ClusterState& state) {
  w.flag_unless("certified", r.certified, false);
  w.number_unless("topology", r.topology, 0);
  w.number_unless("level", r.level, -1);
  w.number_unless("where", r.where, -1);
  const Job* other = r.other_job < 0 || r.other_job >= state.job_index_end() ? nullptr : state.job(r.other_job);
  if (other != nullptr) w.text("other_job", other->id);
  if (r.queue >= 0 && r.queue < static_cast<std::int32_t>(StateView(state).queues().size()))
    w.text("queue", StateView(state).queues()[static_cast<std::size_t>(r.queue)].id);
  w.number_unless("gpu_type", r.gpu_type, -1);
  w.number_unless("missing", r.missing, 0);
  w.number_unless("members", r.members, 0);
  w.number_unless("apart", r.apart, 0);
  w.flag_unless("beside", r.beside, false);
  w.flag_unless("some_nodes", r.some_nodes, false);
  w.number_unless("free", r.free, 0);
  w.number_unless("until_s", r.until_us, kNever, 6);
  if (r.unavailable_nodes == 0) return;
  w.key("unavailable");
  w.object([&] {
    w.number_unless("drained", r.drained, 0);
    w.number_unless("failed", r.failed, 0);
    w.number("node_count", r.unavailable_nodes);
    w.key("nodes");
    w.array([&] {
      for (const std::int32_t node : r.unavailable_on) {
        if (node >= 0) w.string(state.node(node).id);
      }
    });
  });
}

void write_reason(JsonWriter& w, const Reason& r, const ClusterState& state, std::int32_t job) {
  w.key("reason");
  w.object([&] {
    w.text("code", core::name(r.code));
    w.text_unless("text", render_reason(state, r, job), "");
    w.number("asked", r.asked);
    w.number("best", r.best);
    w.text_unless("where", render_where(state, r), "");
    w.text_unless("would_start_if", render_would_start_if(state, r, job), "");
    w.key("evidence");
    w.object([&] { write_evidence(w, r, state); });
  });
}

void write_decision(JsonWriter& w, const Plan& plan, const Decision& d, const ClusterState& state) {
  const Job* job = state.job(d.job);
  const Shape* shape = d.shape < 0 ? nullptr : &job->shapes.at(static_cast<std::size_t>(d.shape));
  w.object([&] {
    w.text("job", job->id);
    w.text("action", core::name(d.action));
    if (shape != nullptr) w.text("shape", shape->id);
    if (d.entry_begin != d.entry_end) {
      w.key("gpus");
      w.array([&] {
        for (std::int32_t i = d.entry_begin; i < d.entry_end; ++i) {
          write_entry(w, plan.entries.at(static_cast<std::size_t>(i)), state, shape);
        }
      });
    }
    w.number_unless("local_batch", d.local_batch, 0);
    w.number_unless("learning_rate", d.learning_rate_pico, 0, 12);
    w.number_unless("rate", d.rate, 0, 6);
    w.number_unless("start_s", d.start_us, kNever, 6);
    w.number_unless("finish_s", d.finish_us, kNever, 6);
    w.number_unless("cost_s", d.cost_us, 0, 6);
    if (d.reason != Reason{}) write_reason(w, d.reason, state, d.job);
  });
}

void write_totals(JsonWriter& w, const Totals& t) {
  w.key("totals");
  w.object([&] {
    w.number("gpus", t.gpus);
    w.number("gpus_used", t.gpus_used);
    w.number("starts", t.starts);
    w.number("keeps", t.keeps);
    w.number("moves", t.moves);
    w.number("preempts", t.preempts);
    w.number("waits", t.waits);
    w.number("rejects", t.rejects);
    w.number("replaces", t.replaces);
    w.number("reserves", t.reserves);
  });
}

void write_timing(JsonWriter& w, const Timing& t) {
  const auto seconds = [&w](std::string_view key, double value) {
    w.key(key);
    w.raw(fmt::format("{:.6f}", value));
  };
  w.key("timing");
  w.object([&] {
    seconds("load_s", t.load_s);
    seconds("compile_s", t.compile_s);
    seconds("decide_s", t.decide_s);
    seconds("order_s", t.order_s);
    seconds("place_s", t.place_s);
    seconds("reasons_s", t.reasons_s);
    seconds("validate_s", t.validate_s);
  });
}

void write_bound(JsonWriter& w, const Bound& bound) {
  if (bound.objective.empty()) {
    w.raw("null");
  } else {
    w.object([&] { write_bound_fields(w, bound); });
  }
}

}  // namespace

std::string to_json(const Plan& plan, const ClusterState& state, bool with_timing) {
  JsonWriter w;
  w.object([&] {
    w.text("schema", "berth.plan.v1");
    w.key("revision"), w.raw(fmt::format("{}", plan.revision));
    w.number("now_s", plan.now_us, 6);
    w.text("policy", plan.policy);
    w.key("params");
    w.object([&] {
      for (const auto& one : plan.params) w.text(one.first, one.second);
    });
    w.text("backend", plan.backend);
    w.text_unless("backend_note", plan.backend_note, "");
    w.key("seed"), w.raw(fmt::format("{}", plan.seed));
    w.number("work_done", plan.work_done);
    w.text("stopped_by", plan.stopped_by);
    w.text("proof", core::name(plan.proof));
    w.text("tables", fmt::format("{:016x}", plan.tables));
    w.number_unless("order_until_s", plan.order_until_us, kNever, 6);
    w.key("objective");
    w.object([&] {
      for (const auto& one : plan.objective) w.number(one.first, one.second);
    });
    w.key("bound");
    write_bound(w, plan.bound);
    w.list("history", plan.history, [&](const auto& one) { w.raw(fmt::format("[{},{}]", one.first, one.second)); });
    write_totals(w, plan.totals);
    w.lines(
        "decisions", plan.decisions, [&](const Decision& d) { write_decision(w, plan, d, state); }, true);
    if (with_timing) write_timing(w, plan.timing);
  });
  return w.finish();
}

}  // namespace berth::io
