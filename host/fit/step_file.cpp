#include "host/fit/step_file.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "berth/error.hpp"
#include "berth/units.hpp"
#include "host/io/files/csv.hpp"

namespace berth::fit {
namespace {

struct StepFileColumns {
  explicit StepFileColumns(const io::CsvReader& csv)
      : step(first_of(csv, "step_s", "step_time")),
        batch(first_of(csv, "batch", "local_bsz")),
        placement(csv.find("placement")),
        gpus(csv.find("gpus")),
        nodes(csv.find("nodes")),
        gpu_type(csv.find("gpu_type")),
        cores(csv.find("cores")),
        co_runner(csv.find("co_runner")) {
    if (step < 0) step = csv.column("step_s");
    if (placement < 0 && gpus < 0) gpus = csv.column("gpus");
  }

  static int first_of(const io::CsvReader& csv, std::string_view name, std::string_view other) {
    return csv.find(name) >= 0 ? csv.find(name) : csv.find(other);
  }

  int step, batch, placement, gpus, nodes, gpu_type, cores, co_runner;
};

constexpr double kMostStep = 1e6;  // a profile states rates in millionths

double decimal(const io::CsvReader& csv, int column, double unit, int places) {
  return static_cast<double>(csv.measured(column, places)) * unit;
}

void read_placement(const io::CsvReader& csv, int column, StepMeasurement& out) {
  const std::string_view digits = csv.text(column);
  out.gpus = 0;
  for (const char digit : digits) {
    if (digit < '1' || digit > '9') csv.refuse(column, "the GPUs of each node as digits from 1 to 9, such as 44");
    out.gpus += digit - '0';
  }
  if (digits.empty() || out.gpus > kMaxGpusPerJob) csv.refuse(column, "the GPUs of each node as digits from 1 to 9, such as 44");
  out.nodes = static_cast<std::int32_t>(digits.size());
}

}  // namespace

std::vector<StepMeasurement> read_steps(const std::string& path) {
  io::CsvReader csv(path);
  const StepFileColumns column(csv);
  std::vector<StepMeasurement> measured;
  const auto is_given = [&](int at) { return at >= 0 && !csv.text(at).empty(); };
  bool batches = false;
  while (csv.next()) {
    StepMeasurement one;
    one.line = csv.line();
    one.step_s = decimal(csv, column.step, 1e-9, 9);
    if (one.step_s <= 0 || one.step_s > kMostStep) csv.refuse(column.step, "seconds above 0, at most 1000000");
    if (is_given(column.placement)) {
      read_placement(csv, column.placement, one);
    } else {
      if (column.gpus < 0) csv.refuse(column.placement, "the GPUs of each node as digits from 1 to 9, such as 44");
      one.gpus = static_cast<std::int32_t>(csv.integer(column.gpus, 1, kMaxGpusPerJob));
      if (is_given(column.nodes)) one.nodes = static_cast<std::int32_t>(csv.integer(column.nodes, 1, one.gpus));
    }
    if (is_given(column.batch)) {
      one.batch = decimal(csv, column.batch, 1e-6, 6);
      if (one.batch <= 0) csv.refuse(column.batch, "samples above 0");
    }
    if (!measured.empty() && (one.batch > 0) != batches) csv.refuse(column.batch, "a batch in all rows or in none");
    batches = one.batch > 0;
    if (is_given(column.cores)) {
      one.cores = decimal(csv, column.cores, 1e-3, 3);
      if (one.cores <= 0) csv.refuse(column.cores, "CPU cores for each GPU, above 0");
    }
    if (is_given(column.gpu_type)) one.gpu_type = csv.text(column.gpu_type);
    if (is_given(column.co_runner)) one.co_runner = csv.text(column.co_runner);
    measured.push_back(std::move(one));
  }
  if (measured.empty()) throw InputError(csv.file(), "", 0, "it has no measurement");
  return measured;
}

}  // namespace berth::fit
