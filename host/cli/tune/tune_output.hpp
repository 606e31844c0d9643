#pragma once

#include <string>

#include "host/cli/tune/tune_study.hpp"

namespace berth::cli {

/// The rungs, the windows, and the parameters as a command line, or that the default stays.
std::string tune_text(const TuneTask& task, const TuneResult& result);

/// A `berth.tune.v1` document (docs/formats/tune.md).
std::string tune_json(const TuneTask& task, const TuneResult& result);

}  // namespace berth::cli
