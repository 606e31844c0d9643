#pragma once

#include <cstddef>
#include <string>

#include "berth/plan.hpp"
#include "host/core/base/name_source.hpp"

namespace berth::report {

/// Why jobs share GPUs after a plan, and why a job that waits does not join others: by what their profiles say of colocation.

/// A line for each job that starts on a GPU that it shares: "b: shares GPU 3 of n1 with a; each keeps at least 84 %". Pairs of which
/// a profile does not say what they cost are left out. At most `most` lines, 0: all. Nothing for a plan of changes, which does not list all
/// jobs.
std::string sharing_lines(const core::NameSource& names, const Plan& plan, std::size_t most);

/// Of one job: "GPU 3 of n1 with a; each keeps at least 84 %". For a job with a share that waits under a parameter `sharing`: "next to a
/// on GPU 3 of n1 it would keep 71 %, and sharing=0.8", of the GPU with the most room for it. Empty where nothing is to be said.
std::string sharing_of(const core::NameSource& names, const Plan& plan, const Decision& decision);

}  // namespace berth::report
