#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "berth/error.hpp"
#include "berth/version.hpp"
#include "host/cli/base/command.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/sweep/sweep_pool.hpp"
#include "host/cli/sweep/sweep_workers.hpp"

namespace berth::cli {
namespace {

constexpr auto kMeetTime = std::chrono::seconds(60);

// The first process may come later than this one.
std::unique_ptr<WireSocket> meet(const SweepPlan& plan, const std::string& store, const SweepLaunch& launch, int threads) {
  const auto begin = std::chrono::steady_clock::now();
  while (remembered_signal() == 0 && std::chrono::steady_clock::now() - begin < kMeetTime) {
    if (const auto meeting = read_meeting(meeting_file(store, launch))) {
      const bool here = meeting->host == host_name();
      std::vector<std::string> addresses;
      for (const std::string& address : meeting->addresses) {
        const bool loops = address.substr(0, 4) == "127." || address == "::1";
        if (here || !loops) addresses.insert(loops ? addresses.begin() : addresses.end(), address);
      }
      if (const auto fd = connect_to(addresses, meeting->port)) {
        auto socket = std::make_unique<WireSocket>(*fd);
        const WireWriter hello = WireWriter().text(meeting->token).text(BERTH_VERSION).text(plan.fingerprint).number(threads);
        if (socket->send(WireType::kHello, hello.body())) return socket;
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return nullptr;
}

void send_done(WireSocket& socket, const SweepDone& done) {
  WireWriter body;
  body.number(static_cast<std::int64_t>(done.task.cell)).number(done.task.seed);
  if (done.interrupted) return;
  if (!done.problem.empty()) {
    (void)socket.send(WireType::kFailed, body.text(done.problem).body());
    return;
  }
  const std::string packed = results::packed_run(done.entry, done.run);
  if (packed.size() > kMostWireBytes - 1024) {
    (void)socket.send(WireType::kFailed, body.text("a run has more than a GiB of rows for another process: keep fewer").body());
    return;
  }
  (void)socket.send(WireType::kResult, body.text(packed).body());
}

}  // namespace

int work_for_sweep(const SweepPlan& plan, const std::string& store, const SweepLaunch& launch, int threads) {
  const std::unique_ptr<WireSocket> socket = meet(plan, store, launch, threads);
  if (socket == nullptr) {
    if (remembered_signal() == 0)
      print_error(fmt::format("process {}: the first process of the sweep does not answer; '{}' says where it is", launch.rank,
                              meeting_file(store, launch)));
    return kUsage;
  }
  SweepInputs inputs(threads);
  SweepPool pool(plan, inputs, threads, [&](const SweepDone& done) {
    try {
      send_done(*socket, done);
    } catch (const std::exception& error) {
      (void)socket->send(WireType::kFailed,
                         WireWriter().number(static_cast<std::int64_t>(done.task.cell)).number(done.task.seed).text(error.what()).body());
    }
  });
  while (remembered_signal() == 0) {
    constexpr int kWakeMs = 200;
    pollfd wait{socket->fd(), POLLIN, 0};
    (void)::poll(&wait, 1, kWakeMs);
    const bool open = socket->receive();
    while (const auto message = socket->next()) {
      if (message->type == WireType::kWelcome) socket->allow(kMostWireBytes);
      if (message->type == WireType::kEnd) return kDone;
      WireReader reader(message->body);
      if (message->type == WireType::kRefuse) {
        if (const std::string problem = reader.text(); !problem.empty()) print_error(fmt::format("process {}: {}", launch.rank, problem));
        return kUsage;
      }
      if (message->type != WireType::kTask) continue;
      const std::int64_t cell = reader.number(), seed = reader.number();
      if (cell < 0 || cell >= static_cast<std::int64_t>(plan.cells.size()))
        throw InvalidArgument("the first process names no run of this sweep");
      pool.add({static_cast<std::size_t>(cell), seed});
    }
    if (open) continue;
    if (remembered_signal() == 0) print_error(fmt::format("process {}: the first process of the sweep has ended", launch.rank));
    return kUsage;
  }
  return kDone;
}

}  // namespace berth::cli
