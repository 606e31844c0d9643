#pragma once

#include <cstdint>
#include <vector>

namespace berth::test {

/// A job of equal processors.
struct EasyJob {
  std::int64_t submit = 0;
  std::int64_t run = 0;
  std::int64_t expected = -1;  ///< run time that its user has stated; -1: none
  std::int64_t processors = 1;
};

/// What the first job of the queue is promised.
enum class EasyPromise {
  kNumber,      ///< as many processors as it needs, whichever they are: the published definition
  kProcessors,  ///< the processors with the lowest numbers of those that will be free
};

/// EASY backfilling (Lifka, JSSPP 1995), written from its definition in Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
/// It shares nothing with Berth's own. tests/replicas/README.md says what the rules are.
/// @param jobs  By submission.
/// @returns the start of each job; -1: it never starts.
std::vector<std::int64_t> replay_easy(const std::vector<EasyJob>& jobs, std::int64_t processors, EasyPromise promise);

}  // namespace berth::test
