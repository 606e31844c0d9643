#include <algorithm>
#include <numeric>

#include "host/reference/price/search.hpp"

/// The proximal bundle method of section 4 of docs/prices.md.
namespace berth::reference {
namespace {

using kernel::floor_div;
using kernel::Wide;

constexpr Wide kUnit = Wide{1} << 30;       // U
constexpr Wide kAllWeight = Wide{1} << 20;  // A
constexpr Wide kMostGradient = Wide{1} << 40;
constexpr Wide kLongStep = Wide{1} << 22;  // sigma: where the predicted decrease is small, little is left to gain
constexpr std::size_t kMostCuts = 16;      // before the new cut

using Vector = std::vector<Wide>;  // [types]

Wide dot(const Vector& a, const Vector& b) {
  Wide sum = 0;
  for (std::size_t t = 0; t < a.size(); ++t) sum += a[t] * b[t];
  return sum;
}

struct Cut {
  Vector gradient;  // G
  Wide error;       // b
  Wide weight;      // a
};

// The step that the weighted cuts give.
struct Step {
  Vector wanted;    // z
  Vector room;      // X: a price is never below 0
  Vector move;      // m
  Vector decrease;  // [cuts] d
};

class Bundle {
 public:
  Bundle(const PricedProblem& problem, const kernel::PriceRequest& request, std::int64_t top, const Evaluation& centre)
      : problem_(problem), request_(request), top_(top), centre_(centre), value_unit_(std::max<Wide>(1, centre.bound)) {
    price_unit_ = std::max<Wide>(1, top_ >> 16);
    for (const std::int64_t price : centre_.price) price_unit_ = std::max<Wide>(price_unit_, price);
    const Wide gpus = std::accumulate(problem.capacity.begin(), problem.capacity.end(), Wide{0});
    price_unit_ = std::max(price_unit_, value_unit_ / std::max<Wide>(1, gpus));
    sigma_ = request.prices != nullptr ? Wide{1} << 16 : Wide{1} << 18;
    cuts_.push_back({gradient(centre_), 0, kAllWeight});
  }

  void run(Evaluator& evaluator);

 private:
  Vector gradient(const Evaluation& e) const;
  Step step() const;
  void set_decreases(Step& step) const;
  void shift_weights();
  Prices prices_after(const Step& step) const;
  void learn(const Step& step, Wide hope, const Evaluation& e);
  void drop_cuts();

  const PricedProblem& problem_;
  const kernel::PriceRequest& request_;
  std::int64_t top_;
  Evaluation centre_;
  Wide value_unit_;  // V
  Wide price_unit_;  // s
  Wide sigma_;
  Prices tried_;           // last
  std::vector<Cut> cuts_;  // oldest first
};

Vector Bundle::gradient(const Evaluation& e) const {
  Vector g;
  for (std::size_t t = 0; t < e.use.size(); ++t) {
    const Wide one = floor_div(Wide{problem_.capacity[t] - e.use[t]} * price_unit_ * kUnit, value_unit_);
    g.push_back(std::clamp(one, -kMostGradient, kMostGradient));
  }
  return g;
}

Step Bundle::step() const {
  Step step;
  for (std::size_t t = 0; t < centre_.price.size(); ++t) {
    Wide sum = 0;
    for (const Cut& cut : cuts_) sum += cut.weight * cut.gradient[t];
    step.wanted.push_back((sigma_ * (sum >> 20)) >> 20);
    step.room.push_back(floor_div(centre_.price[t] * kUnit, price_unit_));
    step.move.push_back(std::min(step.wanted[t], step.room[t]));
  }
  set_decreases(step);
  return step;
}

void Bundle::set_decreases(Step& step) const {
  step.decrease.clear();
  for (const Cut& cut : cuts_) step.decrease.push_back(cut.error + (dot(step.move, cut.gradient) >> 30));
}

// Step 1: shifts weight to the cut that predicts least, until all cuts with weight predict the same.
void Bundle::shift_weights() {
  for (int times = 0; times < 256; ++times) {
    const Step now = step();
    const Vector& d = now.decrease;
    std::size_t from = cuts_.size(), to = 0;
    for (std::size_t k = 0; k < cuts_.size(); ++k) {
      if (cuts_[k].weight > 0 && (from == cuts_.size() || d[k] > d[from])) from = k;
      if (d[k] < d[to]) to = k;
    }
    const Wide apart = d[from] - d[to];
    if (apart <= 64) return;
    Wide square = 0;
    for (std::size_t t = 0; t < now.move.size(); ++t) {
      const Wide difference = cuts_[to].gradient[t] - cuts_[from].gradient[t];
      if (now.wanted[t] < now.room[t]) square += difference * difference;
    }
    square >>= 30;
    const Wide most = cuts_[from].weight;
    const Wide weight = square == 0 ? most : std::min(most, floor_div(apart * (Wide{1} << 40), sigma_ * square));
    if (weight < 1) return;
    cuts_[from].weight -= weight;
    cuts_[to].weight += weight;
  }
}

Prices Bundle::prices_after(const Step& step) const {
  Prices next;
  for (std::size_t t = 0; t < step.move.size(); ++t) {
    const Wide price = step.move[t] == step.room[t] ? 0 : centre_.price[t] - ((step.move[t] * price_unit_ + kUnit / 2) >> 30);
    next.push_back(static_cast<std::int64_t>(std::clamp<Wide>(price, 0, top_)));
  }
  return next;
}

// Steps 4 and 5, with the evaluation at the prices of `step`.
void Bundle::learn(const Step& step, Wide hope, const Evaluation& e) {
  const Wide gain = floor_div((centre_.bound - e.bound) * kUnit, value_unit_);
  Cut found{gradient(e), 0, 0};
  if (e.bound < centre_.bound) {
    for (std::size_t k = 0; k < cuts_.size(); ++k) cuts_[k].error = std::max<Wide>(0, step.decrease[k] - gain);
    centre_ = e;
    if (2 * gain > hope) sigma_ = std::min(2 * sigma_, Wide{1} << 30);
  } else {
    found.error = std::max<Wide>(0, gain - (dot(step.move, found.gradient) >> 30));
    if (found.error > 4 * hope) sigma_ = std::max(floor_div(sigma_, 2), Wide{1} << 6);
  }
  drop_cuts();
  cuts_.push_back(std::move(found));
}

void Bundle::drop_cuts() {
  cuts_.erase(std::remove_if(cuts_.begin(), cuts_.end(), [](const Cut& cut) { return cut.weight == 0; }), cuts_.end());
  if (cuts_.size() < kMostCuts) return;
  const auto least = std::min_element(cuts_.begin(), cuts_.end(), [](const Cut& a, const Cut& b) { return a.weight < b.weight; });
  const Wide weight = least->weight;
  cuts_.erase(least);
  cuts_.front().weight += weight;
}

void Bundle::run(Evaluator& evaluator) {
  for (;;) {
    shift_weights();
    Step now = step();
    Wide hope = 0;
    for (std::size_t k = 0; k < cuts_.size(); ++k) hope += cuts_[k].weight * now.decrease[k];
    hope >>= 20;
    if (hope <= floor_div(floor_div(kUnit * request_.gap_ppm, 1'000'000), 4)) {
      if (sigma_ >= kLongStep) return;
      sigma_ *= 4;
      continue;
    }
    const Prices next = prices_after(now);
    if (next == centre_.price || next == tried_) return;
    tried_ = next;
    for (std::size_t t = 0; t < next.size(); ++t) {
      now.move[t] = floor_div((Wide{centre_.price[t]} - next[t]) * kUnit, price_unit_);
    }
    set_decreases(now);
    const auto e = evaluator.at(next);
    if (!e) return;
    learn(now, hope, *e);
  }
}

}  // namespace

void search_from_centre(const PricedProblem& problem, const kernel::PriceRequest& request, std::int64_t top, Evaluator& evaluator) {
  Bundle(problem, request, top, evaluator.centre()).run(evaluator);
}

}  // namespace berth::reference
