#pragma once

#include <cstdint>
#include <string>

#include "host/policy/deadlines/lease_plan.hpp"

namespace berth::bench {

struct LeaseProgramFigures {
  std::int64_t solved = 0, out_of_time = 0;
  double longest_s = 0;
  std::int64_t most_columns = 0;
};

/// Chronus' integer program (SoCC'21, as its artifact has it) by GLPK: X of a job and a lease, S of a job and a step of its deadline. The
/// values of steps before which jobs get all their leases count; of equal plans the one that uses least of the first lease where other jobs
/// could use it, else most of it.
/// @param late    of plans of equal value the one with the latest leases, which is ours; else any
/// @param most_s  of a program, in seconds; the artifact allows 5
/// @param lp      file that receives the largest program; empty: none
bool solve_leases(const policy::LeaseQuestion& question, bool late, double most_s, const std::string& lp, policy::LeaseAnswer& answer,
                  LeaseProgramFigures& figures);

}  // namespace berth::bench
