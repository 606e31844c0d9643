// A planner's questions about one cluster, answered in one call: what if nodes are taken, what if the queue had another
// order? Then a scheduler's question: where is the next job placed best?
//
//   what_if data/demo/snapshot.json
//
// The output has no wall-clock times, so that two runs print the same.

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "berth/io.hpp"
#include "berth/placement.hpp"
#include "berth/state.hpp"

namespace {

struct Question {
  std::string text;
  berth::Scenario scenario;
};

std::vector<Question> questions(const berth::ClusterState& state) {
  std::vector<Question> all{{"as it is, under fifo with backfilling", {}}};
  all.front().scenario.params = {{"discipline", "easy"}};

  Question taken{"four nodes are taken", all.front().scenario};
  for (std::int32_t rank = 0; rank < 4 && rank < state.node_count(); ++rank) taken.scenario.taken.push_back({state.node(rank).id});
  all.push_back(std::move(taken));

  Question shortest{"shortest work first, no job displaced", all.front().scenario};
  shortest.scenario.policy = "srsf";
  shortest.scenario.preemptive = false;
  all.push_back(std::move(shortest));

  Question reversed{"the last come first", all.front().scenario};
  for (std::int32_t job_index = state.job_index_end(); job_index-- > 0;) {
    const berth::Job* job = state.job(job_index);
    if (job != nullptr && job->state == berth::JobState::kWaiting) reversed.scenario.order.push_back(job->id);
  }
  all.push_back(std::move(reversed));
  return all;
}

void ask_what_if(const berth::ClusterState& state, berth::Placement& placement) {
  const std::vector<Question> asked = questions(state);
  std::vector<berth::Scenario> scenarios;
  for (const Question& question : asked) scenarios.push_back(question.scenario);

  const std::vector<berth::ScenarioOutcome> outcomes = placement.place(state, scenarios);

  const berth::ScenarioOutcome& today = outcomes.front();
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const berth::Totals& totals = outcomes[i].totals;
    std::cout << asked[i].text << ": " << totals.starts << " start, " << totals.waits << " wait, " << totals.gpus_used << " of "
              << totals.gpus << " GPUs in use\n";
    for (std::size_t j = 0; j < today.job.size(); ++j) {
      const bool starts = outcomes[i].action[j] == berth::Action::kStart;
      if (starts == (today.action[j] == berth::Action::kStart)) continue;
      std::cout << (starts ? "  starts now: " : "  does not start: ") << state.job(today.job[j])->id << '\n';
    }
  }
}

void ask_where(const berth::ClusterState& state, berth::Placement& placement) {
  berth::ScoreRequest request;
  request.level.level = "rack";
  request.k = 2;

  const berth::Candidates candidates = placement.score(state, request);

  std::cout << "best racks of each waiting job, what runs now staying where it is\n";
  for (std::size_t i = 0; i < candidates.job.size(); ++i) {
    if (candidates.of(i).empty()) continue;
    std::cout << "  " << state.job(candidates.job[i])->id << ':';
    for (const berth::Candidate& c : candidates.of(i)) std::cout << ' ' << c.where << " (" << c.leftover << " GPUs left)";
    std::cout << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: what_if SNAPSHOT.json\n";
    return 2;
  }
  try {
    const berth::ClusterState state = berth::io::parse_state(berth::io::read_file(argv[1]), argv[1]);
    berth::Placement placement;  // kept, so that its memory is reused
    ask_what_if(state, placement);
    ask_where(state, placement);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "what_if: " << error.what() << '\n';
    return 1;
  }
}
