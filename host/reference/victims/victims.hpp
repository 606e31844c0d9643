#pragma once

#include "berth/kernel/victims/columns.hpp"

namespace berth::reference {

/// Which running jobs leave so that jobs fit into domains, as docs/victims.md defines it: all nodes and sets are counted again each time.
void victims(const kernel::ProblemView& p, const kernel::VictimsRequest& request, const kernel::VictimsResult& result);

}  // namespace berth::reference
