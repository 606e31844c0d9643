#include "host/reference/price/choice.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace berth::reference {
namespace {

using kernel::Wide;

// A job takes another of its options.
struct Move {
  std::size_t job, option;
};

// Value per GPU, as a fraction.
struct Rate {
  Wide value;
  std::int64_t gpus;  // above 0
};
bool operator<(const Rate& a, const Rate& b) { return a.value * b.gpus < b.value * a.gpus; }

class Choice {
 public:
  Choice(const PricedProblem& problem, const Evaluation& centre) : problem_(problem), price_(centre.price), taken_(centre.taken) {}

  void repair(std::size_t type);
  void fill();
  /// Returns false when no exchange gains.
  bool exchange();
  /// Returns false when no job gains by making several others leave.
  bool displace();
  Wide value() const { return value_of(problem_, taken_); }
  TakenOptions taken() const { return taken_; }

 private:
  const PricedOption& now(std::size_t job) const { return problem_.jobs[job][taken_[job]]; }
  const PricedOption& option(const Move& move) const { return problem_.jobs[move.job][move.option]; }
  std::int64_t free(std::size_t type) const;  // below 0 when usage exceeds the capacity
  void make(const Move& move) { taken_[move.job] = move.option; }
  bool fill_round();
  template <class Visit>
  void for_each_move(Visit visit) const;

  struct Donor {
    Wide loss;
    Move move;
  };
  using Donors = std::map<std::pair<std::size_t, std::int64_t>, std::optional<Donor>>;
  std::optional<Donor> cheapest(std::size_t type, std::int64_t gpus, std::optional<std::size_t> except) const;

  const PricedProblem& problem_;
  Prices price_;
  TakenOptions taken_;
};

std::int64_t Choice::free(std::size_t type) const {
  std::int64_t free = problem_.capacity[type];
  for (std::size_t job = 0; job < taken_.size(); ++job) free -= gpus_of(now(job), type);
  return free;
}

// Visits lower jobs first, then none, then the job's rows: of equal moves the first one visited is made.
template <class Visit>
void Choice::for_each_move(Visit visit) const {
  for (std::size_t job = 0; job < taken_.size(); ++job) {
    for (std::size_t k = 0; k < problem_.jobs[job].size(); ++k) visit(Move{job, k});
  }
}

void Choice::repair(std::size_t type) {
  for (std::int64_t missing = -free(type); missing > 0; missing = -free(type)) {
    std::vector<std::int64_t> room;
    for (std::size_t t = 0; t < price_.size(); ++t) room.push_back(free(t));
    std::optional<std::pair<Rate, Move>> best;
    for_each_move([&](const Move& move) {
      const PricedOption &c = now(move.job), &k = option(move);
      const std::int64_t freed = gpus_of(c, type) - gpus_of(k, type);
      if (gpus_of(c, type) == 0 || freed <= 0) return;
      if (gpus_of(k, k.type) > 0 && k.type != type && k.gpus > room[k.type]) return;
      const Rate loss{net_value(c, price_) - net_value(k, price_), std::min(freed, missing)};
      if (!best || loss < best->first) best = {loss, move};
    });
    make(best->second);
  }
}

void Choice::fill() {
  for (int round = 0; round < 4 && fill_round(); ++round) continue;
}

// Returns false when no GPUs were released.
bool Choice::fill_round() {
  std::vector<std::int64_t> room;
  for (std::size_t t = 0; t < price_.size(); ++t) room.push_back(free(t));
  for (bool gave_back = false;;) {
    std::optional<std::pair<Rate, Move>> best;
    for_each_move([&](const Move& move) {
      const PricedOption &c = now(move.job), &k = option(move);
      const std::int64_t need = k.gpus - gpus_of(c, k.type);
      if (k.gpus == 0 || k.value <= c.value || need <= 0 || need > room[k.type]) return;
      const Rate gain{Wide{k.value} - c.value, need};
      if (!best || best->first < gain) best = {gain, move};
    });
    if (!best) return gave_back;
    const PricedOption& before = now(best->second.job);
    const std::size_t type = option(best->second).type;
    gave_back = gave_back || (before.gpus > 0 && before.type != type);
    room[type] -= best->first.gpus;
    make(best->second);
  }
}

// The job with the least loss for giving up at least this number of GPUs.
std::optional<Choice::Donor> Choice::cheapest(std::size_t type, std::int64_t gpus, std::optional<std::size_t> except) const {
  std::optional<Donor> best;
  for_each_move([&](const Move& move) {
    const PricedOption &c = now(move.job), &k = option(move);
    if (move.job == except || gpus_of(c, type) - gpus_of(k, type) < gpus) return;
    if (k.gpus > 0 && k.type != type) return;
    const Wide loss = Wide{c.value} - k.value;
    if (!best || loss < best->loss) best = {loss, move};
  });
  return best;
}

bool Choice::exchange() {
  std::vector<std::int64_t> room;
  for (std::size_t t = 0; t < price_.size(); ++t) room.push_back(free(t));
  Donors donors;  // of any job, by type and GPUs
  Wide most = 0;
  std::optional<std::pair<Move, Move>> best;  // the giving and the taking move
  for_each_move([&](const Move& move) {
    const PricedOption &c = now(move.job), &k = option(move);
    if (k.gpus == 0) return;
    const std::int64_t lacks = k.gpus - gpus_of(c, k.type) - room[k.type];
    if (lacks < 1 || lacks > 64) return;
    const auto [known, is_new] = donors.try_emplace({k.type, lacks});
    if (is_new) known->second = cheapest(k.type, lacks, std::nullopt);
    std::optional<Donor> donor = known->second;
    if (donor && donor->move.job == move.job) donor = cheapest(k.type, lacks, move.job);
    if (!donor) return;
    const Wide gain = Wide{k.value} - c.value - donor->loss;
    if (gain <= most) return;
    most = gain;
    best = {donor->move, move};
  });
  if (!best) return false;
  make(best->first);
  make(best->second);
  return true;
}

// The jobs with the least value per GPU of the type leave, until there is room.
bool Choice::displace() {
  Wide most = 0;
  std::optional<Move> best;
  std::vector<std::size_t> leave;
  for (std::size_t type = 0; type < price_.size(); ++type) {
    std::vector<std::pair<Rate, std::size_t>> holders;
    for (std::size_t job = 0; job < taken_.size(); ++job) {
      if (gpus_of(now(job), type) > 0) holders.push_back({{now(job).value, now(job).gpus}, job});
    }
    std::stable_sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::int64_t room = free(type);
    for_each_move([&](const Move& move) {
      const PricedOption &c = now(move.job), &k = option(move);
      std::int64_t lacks = gpus_of(k, type) - gpus_of(c, type) - room;
      if (gpus_of(k, type) == 0 || lacks < 1) return;
      Wide gain = Wide{k.value} - c.value;
      std::vector<std::size_t> leavers;
      for (const auto& [rate, job] : holders) {
        if (lacks < 1 || gain <= most) break;
        if (job == move.job) continue;
        leavers.push_back(job);
        lacks -= now(job).gpus;
        gain -= now(job).value;
      }
      if (lacks > 0 || gain <= most) return;
      most = gain;
      best = move;
      leave = leavers;
    });
  }
  if (!best) return false;
  for (const std::size_t job : leave) make({job, 0});
  make(*best);
  return true;
}

}  // namespace

Wide value_of(const PricedProblem& problem, const TakenOptions& taken) {
  Wide sum = 0;
  for (std::size_t job = 0; job < taken.size(); ++job) sum += problem.jobs[job][taken[job]].value;
  return sum;
}

bool within_gap(Wide bound, Wide value, std::int64_t gap_ppm) { return (bound - value) * 1'000'000 <= gap_ppm * bound; }

TakenOptions repair(const PricedProblem& problem, const Evaluation& centre) {
  Choice choice(problem, centre);
  for (std::size_t t = 0; t < problem.capacity.size(); ++t) choice.repair(t);
  choice.fill();
  return choice.taken();
}

TakenOptions choose(const PricedProblem& problem, const Evaluation& centre, std::int64_t gap_ppm, int passes) {
  Evaluation repaired = centre;
  repaired.taken = repair(problem, centre);
  Choice choice(problem, repaired);
  const auto good = [&] { return within_gap(centre.bound, choice.value(), gap_ppm); };
  int exchanged = 0;
  while (exchanged < passes && !good() && choice.exchange()) ++exchanged;
  if (exchanged > 0) choice.fill();
  for (int pass = 0; pass < passes && !good() && choice.displace(); ++pass) choice.fill();
  return choice.taken();
}

}  // namespace berth::reference
