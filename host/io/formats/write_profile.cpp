#include "host/core/base/names.hpp"
#include "host/io/formats/write_parts.hpp"

namespace berth::io {

void write(JsonWriter& w, const Profile& p) {
  w.object([&] {
    if (p.kind != ProfileKind::kOpaque) w.text("kind", core::name(p.kind));
    w.text_unless("model", p.model, "");
    w.text_unless("unit", p.unit, "s");
    w.list("points", p.points, [&](const RatePoint& point) {
      w.object([&] {
        w.text_unless("gpu_type", point.gpu_type, "");
        w.number("gpus", point.gpus);
        w.number_unless("local_batch", point.local_batch, 0);
        w.text_unless("span", point.span, "");
        w.number("rate", point.rate, 6);
      });
    });
    if (p.closed_form != ClosedForm{}) {
      w.key("closed_form");
      w.object([&] {
        w.list(
            "step", p.closed_form.step,
            [&](const StepTime& s) {
              w.object([&] {
                w.text_unless("gpu_type", s.gpu_type, "");
                w.number_unless("alpha_ns", s.alpha_ns, 0);
                w.number_unless("beta_ns", s.beta_ns, 0);
              });
            },
            true);
        w.number_unless("io_ns", p.closed_form.io_ns, 0);
        w.number_unless("cpu_cores_saturation", p.closed_form.cpu_milli_saturation, 0, 3);
        w.number_unless("overlap", p.closed_form.overlap_ppm, 0, 6);
      });
    }
    w.number_unless("gradient_bytes", p.gradient_bytes, 0);
    w.list("stage_s", p.stage_us, [&](TimeUs stage) { w.decimal(stage, 6); });
    w.number_unless("gpu_utilisation", p.gpu_utilisation_ppm, 0, 6);
    w.number_unless("gpu_memory_utilisation", p.gpu_memory_utilisation_ppm, 0, 6);
    if (!p.colocation.empty()) {
      w.key("colocation");
      w.object([&] {
        for (const auto& one : p.colocation) w.number(one.first, one.second, 6);
      });
    }
  });
}

void write(JsonWriter& w, const Progress& p) {
  w.object([&] {
    w.number_unless("work_done", p.work_done, 0, 6);
    w.number_unless("work_total", p.work_total, 0, 6);
    w.number_unless("epochs_done", p.epochs_done_micro, 0, 6);
    w.number_unless("samples_done", p.samples_done, 0);
    w.number_unless("dataset_size", p.dataset_size, 0);
    w.number_unless("initial_loss", p.initial_loss_micro, 0, 6);
    w.number_unless("loss", p.loss_micro, 0, 6);
    w.number_unless("accuracy", p.accuracy_ppm, 0, 6);
    w.number_unless("grad_sqr", p.grad_sqr_micro, 0, 6);
    w.number_unless("grad_var", p.grad_var_micro, 0, 6);
    w.number_unless("run_s", p.run_us, 0, 6);
    w.number_unless("attained_gpu_s", p.attained_gpu_us, 0, 6);
    w.list("observed", p.observed, [&](const ObservedRate& o) {
      w.object([&] {
        w.number("gpus", o.gpus);
        w.list(
            "rates", o.rates, [&](std::int64_t rate) { w.decimal(rate, 6); }, true);
      });
    });
    w.number_unless("restarts", p.restarts, 0);
  });
}

}  // namespace berth::io
