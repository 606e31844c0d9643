#include <fmt/format.h>

#include <cmath>

#include "berth/build_id.hpp"
#include "berth/version.hpp"
#include "host/cli/bench/bench_runs.hpp"
#include "host/io/json/json_writer.hpp"

namespace berth::cli {
namespace {

void write_seconds(io::JsonWriter& out, const char* name, double seconds) {
  out.number(name, static_cast<std::int64_t>(std::llround(1e9 * seconds)), 9);
}

void write_machine(io::JsonWriter& out, const MachineFacts& m) {
  out.key("machine");
  out.object([&] {
    out.text("version", BERTH_VERSION);
    out.text("build", BERTH_BUILD_ID);
    out.text("compiler", m.compiler);
    out.key("optimised");
    out.raw(m.optimised ? "true" : "false");
    out.text_unless("cpu", m.cpu, "");
    out.flag_unless("virtual", m.virtual_machine, false);
    out.number("threads", m.threads);
    out.number_unless("memory_bytes", m.memory_bytes, 0);
    out.lines(
        "gpus", m.gpus,
        [&](const core::DeviceInfo& gpu) {
          out.object([&] {
            out.text("name", gpu.name);
            out.text("compute_capability", fmt::format("{}.{}", gpu.major, gpu.minor));
            out.number("memory_bytes", gpu.memory_bytes);
            out.text("driver_cuda", gpu.driver_cuda);
            out.text("runtime_cuda", gpu.runtime_cuda);
            out.text_unless("why_not", gpu.why_not, "");
          });
        },
        true);
    if (m.gpus.empty()) out.text("why_no_gpu", m.why_no_gpu);
  });
}

void write_reading(io::JsonWriter& out, const char* name, const ClockReading& c) {
  out.key(name);
  out.object([&] {
    out.strings("governors", c.governors);
    out.number_unless("mhz", c.khz, 0, 3);
    out.number_unless("min_mhz", c.least_khz, 0, 3);
    out.number_unless("max_mhz", c.most_khz, 0, 3);
    out.number_unless("throttled", c.throttled, -1);
    out.number_unless("stolen_ticks", c.stolen_ticks, -1);
    if (c.stolen_ticks >= 0) out.number("ticks", c.ticks);
    out.number_unless("quota_s", c.quota_us, -1, 6);
    out.number_unless("load", c.load_milli, -1, 3);
    write_seconds(out, "fixed_work_s", c.fixed_work_s);
  });
}

void write_clocks(io::JsonWriter& out, const BenchReport& report) {
  out.key("clocks");
  out.object([&] {
    write_reading(out, "before", report.before);
    if (report.after.fixed_work_s > 0) write_reading(out, "after", report.after);
    out.strings("not_shown", clocks_not_shown(report.before));
    out.strings("warnings", report.warnings);
  });
}

void write_search(io::JsonWriter& out, const SearchSize& size) {
  out.object([&] {
    out.number("gpus", size.gpus);
    out.number("jobs", size.jobs);
    out.number("bound", size.bound);
    out.key("price");
    out.object([&] {
      out.number("value", size.price_value);
      write_seconds(out, "placed_s", size.price_placed_s);
      write_seconds(out, "seconds", size.price_s);
    });
    out.lines(
        "runs", size.runs,
        [&](const SearchRun& run) {
          out.object([&] {
            out.text("side", run.side);
            out.number("budget_s", run.budget_us, 6);
            out.number("value", run.found.value);
            out.number("generations", run.found.generations);
            write_seconds(out, "searched_s", run.found.searched_s);
            write_seconds(out, "seconds", run.found.seconds);
            out.list(
                "steps", run.found.steps,
                [&](const report::ValueStep& step) {
                  out.object([&] {
                    write_seconds(out, "s", step.seconds);
                    out.number("value", step.score);
                  });
                },
                true);
          });
        },
        true);
  });
}

void write_passes(io::JsonWriter& out, const PassesSize& size) {
  out.object([&] {
    out.number("scenarios", size.scenarios);
    out.number("jobs", size.jobs);
    out.number("nodes", size.nodes);
    out.lines(
        "runs", size.runs,
        [&](const PassesRun& run) {
          out.object([&] {
            out.text("side", run.side);
            write_seconds(out, "median_s", run.median_s);
            out.number("per_s", std::llround(1000 * size.scenarios / run.median_s), 3);
            out.list("seconds", run.seconds,
                     [&](double seconds) { out.decimal(static_cast<std::int64_t>(std::llround(1e9 * seconds)), 9); });
          });
        },
        true);
  });
}

void write_decisions(io::JsonWriter& out, const DecisionsSize& size) {
  out.object([&] {
    out.text("policy", size.policy);
    out.number("jobs", size.jobs);
    out.number("nodes", size.nodes);
    out.lines(
        "runs", size.runs,
        [&](const DecisionsRun& run) {
          out.object([&] {
            out.text("side", run.side);
            out.number("decisions", run.decisions);
            write_seconds(out, "p50_s", run.p50_s);
            write_seconds(out, "p99_s", run.p99_s);
            out.number("per_s", std::llround(1000 * run.decisions / run.sum_s), 3);
          });
        },
        true);
  });
}

}  // namespace

std::string bench_json(const BenchReport& report) {
  io::JsonWriter out;
  out.object([&] {
    out.text("schema", "berth.bench.v1");
    out.text("suite", "headline");
    out.flag_unless("quick", report.quick, false);
    out.key("seed");
    out.raw(std::to_string(report.seed));
    out.key("complete");
    out.raw(report.complete ? "true" : "false");
    write_seconds(out, "seconds", report.seconds);
    write_machine(out, report.machine);
    write_clocks(out, report);
    out.list(
        "sides", report.sides,
        [&](const BenchSide& side) {
          out.object([&] {
            out.text("name", side.name);
            out.text("backend", side.backend == Backend::kCuda ? "cuda" : "cpu");
            if (side.backend == Backend::kCpu) out.number("threads", side.threads);
          });
        },
        true);
    out.lines(
        "search", report.search, [&](const SearchSize& size) { write_search(out, size); }, true);
    out.lines(
        "scenarios", report.passes, [&](const PassesSize& size) { write_passes(out, size); }, true);
    out.lines(
        "decisions", report.decisions, [&](const DecisionsSize& size) { write_decisions(out, size); }, true);
    out.key("losing");
    out.array([&] {
      for (const std::string& one : losing(report)) out.string(one);
    });
  });
  return out.finish();
}

}  // namespace berth::cli
