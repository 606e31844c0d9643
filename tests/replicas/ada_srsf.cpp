#include "tests/replicas/ada_srsf.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/support/random.hpp"

namespace berth::test {
namespace {

constexpr int kNodes = 16, kGpusPerNode = 4, kGpus = kNodes * kGpusPerNode;
constexpr double kGpuMegabytes = 32'768;
// Milliseconds a megabyte: of an all-reduce alone, what each other on the node adds, at its first instant, and in the workload of a GPU.
constexpr double kBeta = 0.856, kEta = 0.235, kFirst = 1 / 1.28, kWorkload = 7.8125;

struct Model {
  double megabytes;  // of gradients
  int forward_ms, backward_ms;
  double memory;  // megabytes on each GPU
};
const std::vector<Model> kModels{{526.4, 36, 54, 4'527}, {99.2, 25, 37, 3'213}, {103.0, 35, 52, 3'291}, {251.8, 32, 47, 2'751}};
/// Jobs of 1, 2, 4, 8, 16, 32 GPUs.
constexpr std::array<int, 6> kJobs{80, 14, 26, 30, 8, 2};

enum class Stage : std::uint8_t { kForward, kBackward, kDone };

struct Job {
  Model model{};
  int gpus = 0;
  std::int64_t submit = 0, iterations = 0;
  double service_ms = 0;  // GPU-milliseconds of computing, of all of it
  double service_left = 0;
  std::vector<int> gpu, node;
  std::vector<Stage> stage;  // [gpus]
  int ready = 0;             // workers that have computed
  // the all-reduce
  bool exchanges = false;
  double sent = 0, speed = 0, ends = 0;
  std::int64_t seen = 0;
  bool ended = false;
};

struct Gpu {
  double free = kGpuMegabytes;
  double workload = 0;
  std::vector<std::pair<int, int>> workers;  // job, worker
  int job = -1, worker = 0;                  // that computes
  std::int64_t until = 0;
};

class Replay {
 public:
  explicit Replay(const AdaQuestion& question) : ask_(question), gpu_(kGpus), exchange_(kNodes), nodes_(kNodes) {
    std::iota(nodes_.begin(), nodes_.end(), 0);
    Random draw(ask_.seed);
    for (std::size_t size = 0; size < kJobs.size(); ++size) {
      for (int k = 0; k < kJobs[size]; ++k) {
        Job& job = job_.emplace_back();
        job.model = draw.of(kModels);
        job.gpus = 1 << size;
        job.iterations = draw.within(ask_.scale, 6 * ask_.scale);
        job.submit = draw.below(1'200 * ask_.scale);
        job.service_ms = static_cast<double>((job.model.forward_ms + job.model.backward_ms) * job.iterations * job.gpus);
        job.service_left = job.service_ms;
        job.stage.assign(static_cast<std::size_t>(job.gpus), Stage::kForward);
      }
    }
    coming_.resize(job_.size());
    std::iota(coming_.begin(), coming_.end(), 0);
    std::stable_sort(coming_.begin(), coming_.end(), [this](int a, int b) { return to_index(a).submit < to_index(b).submit; });
  }

  double mean_ms() {
    double sum = 0;
    std::size_t come = 0, ended = 0;
    for (now_ = 0; ended < job_.size(); ++now_) {
      for (const int node : nodes_) end_stages(node);
      std::erase_if(running_, [&](int j) {
        const Job& job = to_index(j);
        if (!job.ended) return false;
        for (const int g : job.gpu) gpu(g).free += job.model.memory;
        sum += static_cast<double>(now_ - job.submit);
        ++ended;
        return true;
      });
      for (; come < coming_.size() && to_index(coming_[come]).submit == now_; ++come) waiting_.push_back(coming_[come]);
      if (!waiting_.empty()) place();
      exchange();
      for (const int node : nodes_) compute(node);
    }
    return sum / static_cast<double>(job_.size());
  }

 private:
  Job& to_index(int job) { return job_[static_cast<std::size_t>(job)]; }
  Gpu& gpu(int g) { return gpu_[static_cast<std::size_t>(g)]; }
  std::vector<int>& on(int node) { return exchange_[static_cast<std::size_t>(node)]; }

  void end_stages(int node) {
    for (int g = node * kGpusPerNode; g < (node + 1) * kGpusPerNode; ++g) {
      Gpu& it = gpu(g);
      if (it.job < 0 || it.until != now_) continue;
      Job& job = to_index(it.job);
      Stage& stage = job.stage[static_cast<std::size_t>(it.worker)];
      const int took = stage == Stage::kForward ? job.model.forward_ms : job.model.backward_ms;
      it.workload -= took;
      job.service_left -= took;
      job.ready += stage == Stage::kBackward;
      stage = stage == Stage::kForward ? Stage::kBackward : Stage::kDone;
      it.job = -1;
    }
    for (const int j : on(node)) {
      if (to_index(j).exchanges && static_cast<double>(now_) >= to_index(j).ends) next_iteration(to_index(j));
    }
    std::erase_if(on(node), [&](int j) { return static_cast<double>(now_) >= to_index(j).ends; });
  }

  void next_iteration(Job& job) {
    job.exchanges = false;
    job.ready = 0;
    if (job.node.size() > 1) {
      for (const int g : job.gpu) gpu(g).workload -= job.model.megabytes * kWorkload;
    }
    if (--job.iterations == 0) {
      job.ended = true;
    } else {
      job.stage.assign(job.stage.size(), Stage::kForward);
    }
  }

  /// LWF-kappa, least service first; who finds no room waits.
  void place() {
    std::stable_sort(waiting_.begin(), waiting_.end(), [this](int a, int b) { return to_index(a).service_ms < to_index(b).service_ms; });
    std::erase_if(waiting_, [this](int j) {
      Job& job = to_index(j);
      std::vector<int> order(kGpus);
      std::iota(order.begin(), order.end(), 0);
      if (job.gpus <= ask_.kappa) {
        std::stable_sort(order.begin(), order.end(), [this](int a, int b) { return gpu(a).workload < gpu(b).workload; });
      } else {
        std::array<double, kNodes> load{};
        for (int g = 0; g < kGpus; ++g) load[static_cast<std::size_t>(g / kGpusPerNode)] += gpu(g).workload;
        const auto less = [&](int a, int b) { return load[static_cast<std::size_t>(a)] < load[static_cast<std::size_t>(b)]; };
        std::stable_sort(nodes_.begin(), nodes_.end(), less);
        for (int k = 0; k < kGpus; ++k) {
          order[static_cast<std::size_t>(k)] = nodes_[static_cast<std::size_t>(k / kGpusPerNode)] * kGpusPerNode + k % kGpusPerNode;
        }
      }
      std::erase_if(order, [&](int g) { return gpu(g).free < job.model.memory; });
      if (static_cast<int>(order.size()) < job.gpus) return false;
      order.resize(static_cast<std::size_t>(job.gpus));
      start(j, order);
      return true;
    });
  }

  void start(int j, const std::vector<int>& gpus) {
    Job& job = to_index(j);
    job.gpu = gpus;
    for (const int g : gpus) {
      if (std::find(job.node.begin(), job.node.end(), g / kGpusPerNode) == job.node.end()) job.node.push_back(g / kGpusPerNode);
    }
    const double each = job.model.forward_ms + job.model.backward_ms + (job.node.size() > 1 ? job.model.megabytes * kWorkload : 0);
    for (int w = 0; w < job.gpus; ++w) {
      Gpu& it = gpu(gpus[static_cast<std::size_t>(w)]);
      it.workers.emplace_back(j, w);
      it.workload += each * static_cast<double>(job.iterations);
      it.free -= job.model.memory;
    }
    running_.push_back(j);
  }

  void exchange() {
    std::vector<int> want;
    for (const int j : running_) {
      Job& job = to_index(j);
      if (job.ended || job.exchanges || job.ready < job.gpus) continue;
      if (job.node.size() == 1) {
        next_iteration(job);
      } else {
        want.push_back(j);
      }
    }
    std::stable_sort(want.begin(), want.end(), [this](int a, int b) { return to_index(a).service_left < to_index(b).service_left; });
    for (const int j : want) {
      Job& job = to_index(j);
      if (!admits(job)) continue;
      for (const int node : job.node) on(node).push_back(j);
      job.exchanges = true;
      job.sent = 0;
      job.speed = 1 / kFirst;
      job.seen = now_;
    }
    std::array<std::size_t, kNodes> many{};
    for (int n = 0; n < kNodes; ++n) many[static_cast<std::size_t>(n)] = on(n).size();
    for (const int j : running_) {
      Job& job = to_index(j);
      if (!job.exchanges) continue;
      double most = 0;
      for (const int node : job.node) most = std::max(most, static_cast<double>(many[static_cast<std::size_t>(node)]));
      job.sent += static_cast<double>(now_ - job.seen) * job.speed;
      job.speed = 1 / ((most - 1) * kEta + kBeta * most);
      job.ends = static_cast<double>(now_) + (job.model.megabytes - job.sent) / job.speed;
      job.seen = now_;
    }
  }

  bool admits(const Job& job) {
    std::size_t most = 0;
    std::vector<int> beside;  // of nodes with more than those before
    for (const int node : job.node) {
      if (on(node).size() <= most) continue;
      most = on(node).size();
      beside.insert(beside.end(), on(node).begin(), on(node).end());
    }
    if (ask_.admission == AdaAdmission::kOne) return most == 0;
    if (ask_.admission == AdaAdmission::kTwo) return most <= 1;
    if (most > 1) return false;
    return std::all_of(beside.begin(), beside.end(), [&](int j) {
      Job& other = to_index(j);
      const double sent = other.sent + static_cast<double>(now_ - other.seen) * other.speed;
      if (ask_.counts_twice) other.sent = sent;
      return (other.model.megabytes - sent) / job.model.megabytes >= 2 * (kBeta + kEta) / kBeta;
    });
  }

  /// On each idle GPU the worker with the least service left.
  void compute(int node) {
    for (int g = node * kGpusPerNode; g < (node + 1) * kGpusPerNode; ++g) {
      Gpu& it = gpu(g);
      if (it.job >= 0) continue;
      std::erase_if(it.workers, [this](const auto& worker) { return to_index(worker.first).ended; });
      for (const auto& [j, w] : it.workers) {
        if (to_index(j).stage[static_cast<std::size_t>(w)] == Stage::kDone) continue;
        if (it.job < 0 || to_index(j).service_left < to_index(it.job).service_left) {
          it.job = j;
          it.worker = w;
        }
      }
      if (it.job < 0) continue;
      const Job& job = to_index(it.job);
      const bool forward = job.stage[static_cast<std::size_t>(it.worker)] == Stage::kForward;
      it.until = now_ + (forward ? job.model.forward_ms : job.model.backward_ms);
    }
  }

  AdaQuestion ask_;
  std::vector<Job> job_;
  std::vector<int> coming_, waiting_, running_;
  std::vector<Gpu> gpu_;
  std::vector<std::vector<int>> exchange_;  // [kNodes] jobs whose all-reduce is under way
  std::vector<int> nodes_;                  // as last sorted
  std::int64_t now_ = 0;
};

}  // namespace

double replay_ada_srsf(const AdaQuestion& question) { return Replay(question).mean_ms() / question.scale; }

}  // namespace berth::test
