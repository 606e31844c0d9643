#include "tests/replicas/muri.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "host/io/files/csv.hpp"

namespace berth::test {
namespace {

constexpr int kNodes = 8, kGpusPerNode = 8;
constexpr double kNever = std::numeric_limits<double>::infinity();
/// GPU-seconds at which a job sinks into the second and the third queue of Tiresias.
constexpr std::array<double, 2> kThresholds{3'250, 7'200};

/// Seconds that a start takes with 1, 2, 4, 8, 16, 32 GPUs.
int start_seconds(const std::string& model, int gpus) {
  static const std::map<std::string, std::array<int, 6>> kSeconds{
      {"vgg16", {7, 7, 8, 9, 9, 10}},     {"vgg19", {7, 7, 8, 9, 10, 10}},    {"resnet18", {4, 5, 5, 7, 7, 7}},
      {"bert", {10, 10, 10, 10, 10, 10}}, {"gpt2", {10, 10, 10, 10, 10, 10}}, {"shufflenet_v2_x1_0", {4, 4, 5, 5, 7, 8}},
      {"a2c", {38, 39, 39, 46, 46, 46}},  {"dqn", {5, 5, 6, 6, 8, 8}}};
  const auto known = kSeconds.find(model);
  const auto size = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(gpus)) - 1);
  return known == kSeconds.end() ? 10 : known->second.at(size);
}

struct Live {
  const MuriJob* job = nullptr;
  double iteration_s = 0;
  double left = 0;  // iterations
  double pays_s = 0;
  double served_s = 0;  // with GPUs, whatever it did in that time
  double seen_s = 0;    // the last event
  double end_s = 0;     // if it goes on as it runs
  std::size_t queue = 0;
  bool running = false;
};

/// GPUs given to one job after another, from an empty cluster on.
class Cluster {
 public:
  explicit Cluster(bool by_node) : by_node_(by_node) { node_.fill(kGpusPerNode); }

  bool give(int gpus) {
    if (!by_node_) {
      if (free_ < gpus) return false;
      free_ -= gpus;
      return true;
    }
    const auto first_with = [&](int need) { return std::find_if(node_.begin(), node_.end(), [&](int free) { return free >= need; }); };
    if (gpus > kGpusPerNode) {  // sizes are powers of two: whole nodes
      if (std::count(node_.begin(), node_.end(), kGpusPerNode) < gpus / kGpusPerNode) return false;
      for (int n = 0; n < gpus / kGpusPerNode; ++n) *first_with(kGpusPerNode) = 0;
      return true;
    }
    const auto node = first_with(gpus);
    if (node == node_.end()) return false;
    *node -= gpus;
    return true;
  }

 private:
  bool by_node_;
  int free_ = kNodes * kGpusPerNode;
  std::array<int, kNodes> node_{};
};

class Replay {
 public:
  Replay(const std::vector<MuriJob>& jobs, MuriPolicy policy, const MuriHabits& habits) : policy_(policy), habits_(habits) {
    for (const MuriJob& job : jobs) {
      Live& live = live_.emplace_back();
      live.job = &job;
      live.iteration_s = job.iteration_ms * habits.iteration_factor / 1'000;
      live.left = job.iterations;
      live.pays_s = habits.pays_at_each_event ? start_seconds(job.model, job.gpus) : 0;
    }
  }

  MuriFigures run() {
    std::size_t events = 0;
    for (std::size_t next = 0; next < live_.size() || !here_.empty();) {
      // Where rounding leaves a job at its threshold for ever, theirs would not end either.
      if (++events > 1'000 * live_.size()) throw std::runtime_error("the replay does not end");
      const double arrival = next < live_.size() ? live_[next].job->submit_s : kNever;
      double end = kNever;
      for (const Live* job : here_) end = std::min(end, job->running ? job->end_s : kNever);
      const double now = std::min({arrival, end, sinks_at_});
      if (end == now) leave(now);
      for (; arrival == now && next < live_.size() && live_[next].job->submit_s == now; ++next) arrive(live_[next], now);
      for (Live* job : here_) work(*job, now);
      if (policy_ == MuriPolicy::kTiresias) {
        decide_by_queues(now);
      } else {
        decide_by_time_left();
      }
      for (Live* job : here_) job->end_s = now + job->left * job->iteration_s;
    }
    return std::move(figures_);
  }

 private:
  void leave(double now) {
    std::erase_if(here_, [&](const Live* job) {
      if (!job->running || job->end_s != now) return false;
      std::erase(queue_[job->queue], job);
      figures_.jct_s.push_back(now - job->job->submit_s);
      figures_.makespan_s = now;
      return true;
    });
  }

  void arrive(Live& job, double now) {
    job.seen_s = now;
    here_.push_back(&job);
    queue_[0].push_back(&job);
  }

  void work(Live& job, double now) {
    if (job.running) {
      job.left -= std::max(now - job.seen_s - job.pays_s, 0.0) / job.iteration_s;
      job.served_s = job.served_s + now - job.seen_s;
      if (job.queue < kThresholds.size() && job.served_s * job.job->gpus >= kThresholds[job.queue]) {
        std::erase(queue_[job.queue], &job);
        queue_[++job.queue].push_back(&job);
      }
    }
    job.seen_s = now;
  }

  void decide_by_time_left() {
    const auto key = [this](const Live* job) {
      const double seconds = job->left * job->iteration_s;
      return policy_ == MuriPolicy::kSrsf ? seconds * job->job->gpus : seconds;
    };
    std::stable_sort(here_.begin(), here_.end(), [&](const Live* a, const Live* b) { return key(a) < key(b); });
    Cluster cluster(habits_.by_node);
    for (Live* job : here_) job->running = cluster.give(job->job->gpus);
  }

  void decide_by_queues(double now) {
    Cluster cluster(false);
    for (auto& queue : queue_) {
      if (!habits_.keeps_runners_first) {
        std::sort(queue.begin(), queue.end(), [](const Live* a, const Live* b) {
          return std::tie(a->job->submit_s, a->job->id) < std::tie(b->job->submit_s, b->job->id);
        });
      }
      for (Live* job : queue) job->running = cluster.give(job->job->gpus);
      if (habits_.keeps_runners_first) {
        std::stable_partition(queue.begin(), queue.end(), [](const Live* job) { return job->running; });
      }
    }
    sinks_at_ = kNever;
    for (const Live* job : here_) {
      if (!job->running || job->queue == kThresholds.size()) continue;
      sinks_at_ = std::min(sinks_at_, std::ceil(kThresholds[job->queue] / job->job->gpus) - job->served_s + now);
    }
  }

  MuriPolicy policy_;
  MuriHabits habits_;
  std::vector<Live> live_;
  std::vector<Live*> here_;  // in the order in which they were last looked at
  std::array<std::vector<Live*>, kThresholds.size() + 1> queue_;
  double sinks_at_ = kNever;
  MuriFigures figures_;
};

}  // namespace

std::vector<MuriJob> read_muri_jobs(const std::string& file) {
  io::CsvReader row(file);
  const int id = row.column("job_id"), model = row.column("model_name"), gpus = row.column("num_gpu"), submit = row.column("submit_time"),
            iterations = row.column("iterations"), iteration = row.column("iteration_time");
  const auto number = [&row](int column) { return std::stod(std::string(row.text(column))); };
  std::vector<MuriJob> jobs;
  while (row.next()) {
    jobs.push_back({std::string(row.text(id)), std::string(row.text(model)), static_cast<int>(number(gpus)), number(submit) / 1'000,
                    number(iterations), number(iteration)});
  }
  std::stable_sort(jobs.begin(), jobs.end(), [](const MuriJob& a, const MuriJob& b) { return a.submit_s < b.submit_s; });
  return jobs;
}

MuriFigures replay_muri(const std::vector<MuriJob>& jobs, MuriPolicy policy, const MuriHabits& habits) {
  MuriFigures figures = Replay(jobs, policy, habits).run();
  std::sort(figures.jct_s.begin(), figures.jct_s.end());
  const std::size_t n = figures.jct_s.size();
  figures.mean_s = std::accumulate(figures.jct_s.begin(), figures.jct_s.end(), 0.0) / static_cast<double>(n);
  figures.p99_s = figures.jct_s.at(n * 99 / 100);
  return figures;
}

}  // namespace berth::test
