#pragma once

#include <cstdint>
#include <vector>

#include "host/core/choice/shape_program.hpp"

namespace berth::bench {

/// GLPK's result for a program in the format of `berth bound --lp`.
struct GlpkAnswer {
  bool ended = false;                 // false: out of time; the rest is then the best so far, 0: none
  double seconds = 0;                 // of the search, without reading
  double value = 0;                   // of whole options: summed in integers
  std::int64_t gpus = 0;              // of whole options
  std::vector<std::int32_t> options;  // of whole options: rows of the program, ascending
};

/// Options may be taken in part: an upper bound of every choice, to about 1e-7.
GlpkAnswer relaxed_by_glpk(const core::ShapeProgram& program, double most_s);

/// The best choice, to GLPK's tolerance (1e-7). Skipped where the relaxation does not end in that time.
GlpkAnswer solved_by_glpk(const core::ShapeProgram& program, double most_s);

}  // namespace berth::bench
