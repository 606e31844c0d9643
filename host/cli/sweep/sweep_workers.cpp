#include "host/cli/sweep/sweep_workers.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "berth/error.hpp"
#include "berth/version.hpp"
#include "host/cli/base/echoed.hpp"

namespace berth::cli {
namespace {

constexpr auto kHelloTime = std::chrono::seconds(10), kComeTime = std::chrono::seconds(5);
constexpr std::int64_t kMostThreads = 4096;

SweepTask task_in(WireReader& reader, const SweepPlan& plan) {
  const std::int64_t cell = reader.number(), seed = reader.number();
  if (cell < 0 || cell >= static_cast<std::int64_t>(plan.cells.size())) throw InvalidArgument("a message names no run of this sweep");
  return {static_cast<std::size_t>(cell), seed};
}

}  // namespace

SweepWorkers::SweepWorkers(const SweepPlan& plan, const std::string& store, const SweepLaunch& launch)
    : plan_(plan), file_(meeting_file(store, launch)), others_(launch.size - 1) {
  if (others_ == 0) return;
  meeting_ = {random_token(), host_name(), 0, own_addresses()};
  listening_ = listen_at(meeting_.port);
  try {
    write_meeting(file_, meeting_);
  } catch (...) {
    ::close(listening_);
    throw;
  }
}

SweepWorkers::~SweepWorkers() {
  if (listening_ < 0) return;
  ::close(listening_);
  ::unlink(file_.c_str());
}

void SweepWorkers::add_to(std::vector<pollfd>& waits) const {
  if (listening_ >= 0) waits.push_back({listening_, POLLIN, 0});
  for (const auto& worker : workers_) waits.push_back({worker->socket.fd(), POLLIN, 0});
}

void SweepWorkers::greet(Worker& worker, const std::string& body) {
  WireReader hello(body);
  if (hello.text() != meeting_.token) throw InvalidArgument("a worker of another sweep");
  const std::string version = hello.text(), fingerprint = hello.text();
  const std::int64_t threads = hello.number();
  std::string problem;
  if (version != BERTH_VERSION) {
    problem = fmt::format("the first process is berth {}, and this is {}", BERTH_VERSION, version);
  } else if (fingerprint != plan_.fingerprint) {
    problem = "the spec or its files are others than those of the first process";
  }
  if (!problem.empty()) {
    (void)worker.socket.send(WireType::kRefuse, WireWriter().text(problem).body());
    worker.over = true;
    ++came_;
    return;
  }
  // One more than it has threads, so that none waits for the next run.
  worker.room = static_cast<std::size_t>(std::clamp<std::int64_t>(threads, 1, kMostThreads)) + 1;
  worker.socket.allow(kMostWireBytes);
  ++came_;
  worker.over = !worker.socket.send(WireType::kWelcome, "");
}

void SweepWorkers::take_message(Worker& worker, const WireMessage& message, std::vector<SweepDone>& done) {
  if (worker.room == 0) {
    if (message.type != WireType::kHello) throw InvalidArgument("a worker does not say hello");
    return greet(worker, message.body);
  }
  if (message.type != WireType::kResult && message.type != WireType::kFailed) throw InvalidArgument("an unknown message of a worker");
  WireReader reader(message.body);
  SweepDone one;
  one.task = task_in(reader, plan_);
  const auto task = std::find(worker.tasks.begin(), worker.tasks.end(), one.task);
  if (task == worker.tasks.end()) throw InvalidArgument("a result that was not asked for");
  if (message.type == WireType::kResult) {
    one.entry.key = sweep_key(plan_.cells[one.task.cell], one.task.seed);
    one.packed = reader.text();
  } else {
    one.problem = reader.text();
  }
  worker.tasks.erase(task);
  done.push_back(std::move(one));
}

void SweepWorkers::take(std::vector<SweepDone>& done, std::vector<SweepTask>& lost) {
  if (listening_ < 0) return;
  while (const auto fd = accept_at(listening_)) workers_.push_back(std::make_unique<Worker>(*fd));
  const auto now = std::chrono::steady_clock::now();
  for (const auto& worker : workers_) {
    try {
      const bool open = worker->socket.receive();
      while (auto message = worker->over ? std::nullopt : worker->socket.next()) take_message(*worker, *message, done);
      worker->over = worker->over || !open || (worker->room == 0 && now - worker->came > kHelloTime);
    } catch (const InvalidArgument&) {  // it is of no use
      worker->over = true;
    }
    if (!worker->over) continue;
    lost.insert(lost.end(), worker->tasks.begin(), worker->tasks.end());
    if (worker->room > 0) ++lost_;
  }
  std::erase_if(workers_, [](const auto& worker) { return worker->over; });
}

bool SweepWorkers::has_room() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const auto& worker) { return !worker->over && worker->tasks.size() < worker->room; });
}

void SweepWorkers::give(const SweepTask& task) {
  const auto least = [](const auto& a, const auto& b) {
    const auto load = [](const Worker& worker) {
      return worker.room == 0 || worker.over ? SIZE_MAX : worker.tasks.size() * 1000 / worker.room;
    };
    return load(*a) < load(*b);
  };
  Worker& worker = **std::min_element(workers_.begin(), workers_.end(), least);
  worker.tasks.push_back(task);  // where sending fails it is lost with the worker
  const WireWriter body = WireWriter().number(static_cast<std::int64_t>(task.cell)).number(task.seed);
  worker.over = !worker.socket.send(WireType::kTask, body.body());
}

std::int64_t SweepWorkers::running() const {
  std::size_t tasks = 0;
  for (const auto& worker : workers_) tasks += worker->tasks.size();
  return static_cast<std::int64_t>(tasks);
}

bool SweepWorkers::all_came() const { return listening_ < 0 || came_ >= others_ || std::chrono::steady_clock::now() - begin_ > kComeTime; }

void SweepWorkers::refuse_all() {
  std::vector<SweepDone> done;
  std::vector<SweepTask> lost;
  while (true) {
    take(done, lost);
    for (const auto& worker : workers_) {
      if (worker->room > 0) (void)worker->socket.send(WireType::kRefuse, WireWriter().text("").body());
    }
    if (all_came()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void SweepWorkers::end() {
  for (const auto& worker : workers_) (void)worker->socket.send(WireType::kEnd, "");
}

}  // namespace berth::cli
