#include "bench/snapshot/changes.hpp"

#include <stdexcept>
#include <string>
#include <unordered_set>

namespace berth::bench {
namespace {

/// The changes of one half of the jobs, and their inverse.
struct There {
  std::vector<Delta> out, back;
};

class Maker {
 public:
  explicit Maker(const Snapshot& snapshot) : snapshot_(snapshot) {
    for (const Node& node : snapshot.nodes) {
      bool works = node.state == NodeState::kReady;
      for (const Gpu& gpu : node.gpu_list) works = works && gpu.state == GpuState::kOk;
      if (works) good_.insert(node.id);
    }
  }

  There half(int count) {
    There t;
    for (int i = 0; i < count * 17 / 100; ++i) {
      Job job = next(JobState::kWaiting);
      job.id += "-again";
      t.back.emplace_back(delta::RemoveJob{job.id, "cancelled"});
      t.out.emplace_back(delta::PutJob{std::move(job)});
    }
    for (int i = 0; i < count * 15 / 100; ++i) {
      const Job& job = next(JobState::kRunning);
      t.out.emplace_back(delta::RemoveJob{job.id, "completed"});
      t.back.emplace_back(delta::PutJob{job});
    }
    for (int i = 0; i < count * 13 / 100; ++i) {
      const Job& job = next(JobState::kRunning);
      t.out.emplace_back(delta::StopJob{job.id});
      t.back.emplace_back(delta::StartJob{job.id, job.allocation});
    }
    for (int i = 0; i < count * 5 / 100; ++i) {
      const std::string node = next_node();
      t.out.emplace_back(delta::SetNodeState{node, NodeState::kDrain, 0});
      t.back.emplace_back(delta::SetNodeState{node, NodeState::kReady, 0});
    }
    return t;
  }

 private:
  const Job& next(JobState state) {
    for (; at_ < snapshot_.jobs.size(); ++at_) {
      const Job& job = snapshot_.jobs[at_];
      if (job.state != state) continue;
      bool good = true;
      for (const AllocationEntry& e : job.allocation.entries) good = good && good_.count(e.node) != 0;
      if (!good) continue;
      for (const AllocationEntry& e : job.allocation.entries) used_.insert(e.node);
      ++at_;
      return job;
    }
    throw std::runtime_error("the snapshot has too few jobs for the changes");
  }

  // A node that no job of the changes holds; jobs that it carries stay on it while it drains.
  std::string next_node() {
    for (auto it = snapshot_.nodes.rbegin() + static_cast<std::ptrdiff_t>(nodes_); it != snapshot_.nodes.rend(); ++it) {
      ++nodes_;
      if (good_.count(it->id) != 0 && used_.count(it->id) == 0) return it->id;
    }
    throw std::runtime_error("the snapshot has too few nodes for the changes");
  }

  const Snapshot& snapshot_;
  std::unordered_set<std::string> good_, used_;
  std::size_t at_ = 0, nodes_ = 0;
};

void append(std::vector<Delta>& to, const std::vector<Delta>& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

Changes make_changes(const Snapshot& snapshot, int count) {
  Maker maker(snapshot);
  const There a = maker.half(count);
  const There b = maker.half(count);
  Changes changes;
  changes.first = b.out;
  append(changes.batch[0], a.out);
  append(changes.batch[0], b.back);
  append(changes.batch[1], a.back);
  append(changes.batch[1], b.out);
  return changes;
}

}  // namespace berth::bench
