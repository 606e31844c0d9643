#include "host/backend/check_contend.hpp"

#include <cstdint>
#include <string>

#include "berth/error.hpp"
#include "berth/kernel/contend/quantise.hpp"

namespace berth::core {
namespace {

void require_within(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return;
  throw InvalidArgument(std::string(name) + " is " + std::to_string(value) + "; it must be " + std::to_string(least) + " to " +
                        std::to_string(most));
}

template <class T>
void require_column(const char* name, const T* column, std::int32_t n, std::int64_t least, std::int64_t most) {
  for (std::int32_t i = 0; column != nullptr && i < n; ++i) {
    if (column[i] < least || column[i] > most) require_within((name + (" " + std::to_string(i))).c_str(), column[i], least, most);
  }
}

/// @param of  "job" or "candidate"
void require_rows(const std::string& of, std::int32_t n, std::int32_t n_links, const std::int32_t* begin, const std::int32_t* link) {
  if (begin[0] != 0) throw InvalidArgument("rows of a " + of + " begin at " + std::to_string(begin[0]) + "; they must begin at 0");
  for (std::int32_t i = 0; i < n; ++i) {
    const auto row = [&] { return of + " " + std::to_string(i); };
    if (begin[i + 1] < begin[i]) throw InvalidArgument(row() + " ends before it begins");
    std::int32_t before = -1;
    for (std::int32_t at = begin[i]; at < begin[i + 1]; ++at) {
      if (link[at] > before && link[at] < n_links) {
        before = link[at];
        continue;
      }
      require_within((row() + ": link").c_str(), link[at], 0, std::int64_t{n_links} - 1);
      if (link[at] == before) throw InvalidArgument(row() + " has link " + std::to_string(before) + " twice; add the uses");
      throw InvalidArgument(row() + " has link " + std::to_string(link[at]) + " after " + std::to_string(before) + "; links must ascend");
    }
  }
}

}  // namespace

void check_contend(const kernel::ContendView& problem, const kernel::ContendRequest& request) {
  require_within("number of links", problem.n_links, 0, INT32_MAX);
  require_within("number of running jobs", problem.n_jobs, 0, kernel::kMostContendJobs);
  require_within("number of candidates", request.n, 0, INT32_MAX - 1);
  require_within("k", request.k, 0, kernel::kMostContendTop);
  require_within("limbs", request.limbs, 1, 2);
  require_column("capacity of link", problem.capacity, problem.n_links, 0, kernel::kMostLinkLoad);
  require_column("load of link", problem.load, problem.n_links, 0, kernel::kMostLinkLoad);
  require_column("weight of link", problem.weight, problem.n_links, 0, kernel::kUseOne);
  require_column("weight of job", problem.job_weight, problem.n_jobs, 0, INT32_MAX);
  std::int64_t weights = problem.n_jobs;
  if (problem.job_weight != nullptr) {
    weights = 0;
    for (std::int32_t j = 0; j < problem.n_jobs; ++j) weights += problem.job_weight[j];
  }
  require_within("sum of the weights of jobs", weights, 0, INT32_MAX);  // with values of 31 bits a sum stays within 62
  require_rows("job", problem.n_jobs, problem.n_links, problem.job_begin, problem.job_link);
  require_rows("candidate", request.n, problem.n_links, request.begin, request.link);
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t links = request.begin[i + 1] - request.begin[i], most = kernel::kMostPairLinks[request.limbs];
    if (links > most) require_within(("number of links of candidate " + std::to_string(i)).c_str(), links, 0, most);
  }
  require_column("excluded job of candidate", request.excluded, request.n, -1, std::int64_t{problem.n_jobs} - 1);
}

}  // namespace berth::core
