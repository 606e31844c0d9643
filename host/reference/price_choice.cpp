#include "host/reference/price_choice.hpp"

#include <map>
#include <optional>
#include <utility>

namespace berth::reference {
namespace {

using core::Wide;

// A job takes another of its options.
struct Move {
  std::size_t job, option;
};

// Value for each GPU, as a fraction.
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
  /// False when no exchange gains.
  bool exchange();
  Wide value() const;
  std::vector<std::size_t> taken() const { return taken_; }

 private:
  const PricedOption& now(std::size_t job) const { return problem_.jobs[job][taken_[job]]; }
  const PricedOption& option(const Move& move) const { return problem_.jobs[move.job][move.option]; }
  std::int64_t free(std::size_t type) const;  // below 0 when used beyond the capacity
  void make(const Move& move) { taken_[move.job] = move.option; }
  bool fill(std::size_t type);
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
  std::vector<std::size_t> taken_;
};

std::int64_t Choice::free(std::size_t type) const {
  std::int64_t free = problem_.capacity[type];
  for (std::size_t job = 0; job < taken_.size(); ++job) free -= gpus_of(now(job), type);
  return free;
}

Wide Choice::value() const {
  Wide sum = 0;
  for (std::size_t job = 0; job < taken_.size(); ++job) sum += now(job).value;
  return sum;
}

// The lower job first, then none, then the job's rows: of equal moves the first one seen is made.
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
  for (int round = 0; round < 4; ++round) {
    bool moved = false;
    for (std::size_t t = 0; t < price_.size(); ++t) moved = fill(t) || moved;
    if (!moved) return;
  }
}

bool Choice::fill(std::size_t type) {
  for (bool moved = false;; moved = true) {
    const std::int64_t room = free(type);
    std::optional<std::pair<Rate, Move>> best;
    for_each_move([&](const Move& move) {
      const PricedOption &c = now(move.job), &k = option(move);
      const std::int64_t need = k.gpus - gpus_of(c, type);
      if (gpus_of(k, type) == 0 || k.value <= c.value || need <= 0 || need > room) return;
      const Rate gain{Wide{k.value} - c.value, need};
      if (!best || best->first < gain) best = {gain, move};
    });
    if (!best) return moved;
    make(best->second);
  }
}

// Who loses least by giving up at least so many GPUs.
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
  std::optional<std::pair<Move, Move>> best;  // who gives, who takes
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

}  // namespace

std::vector<std::size_t> choose(const PricedProblem& problem, const Evaluation& centre, std::int64_t gap_ppm) {
  Choice choice(problem, centre);
  for (std::size_t t = 0; t < problem.capacity.size(); ++t) choice.repair(t);
  choice.fill();
  const auto good_enough = [&] { return (centre.bound - choice.value()) * 1'000'000 <= Wide{gap_ppm} * centre.bound; };
  int exchanged = 0;
  while (exchanged < 64 && !good_enough() && choice.exchange()) ++exchanged;
  if (exchanged > 0) choice.fill();
  return choice.taken();
}

}  // namespace berth::reference
