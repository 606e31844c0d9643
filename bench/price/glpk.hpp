#pragma once

#include <cstdint>
#include <vector>

#include "host/core/choice_programme.hpp"

namespace berth::bench {

/// What GLPK makes of a programme that it reads as `berth bound --lp` writes it.
struct GlpkAnswer {
  bool ended = false;                 // else the time was over; what follows is then the best so far, 0: none
  double seconds = 0;                 // of the search, without reading
  double value = 0;                   // of whole shapes: added up in whole numbers
  std::int64_t gpus = 0;              // of whole shapes
  std::vector<std::int32_t> options;  // of whole shapes: rows of the programme, ascending
};

/// Shapes may be taken in part: no choice is worth more. To about 1e-7.
GlpkAnswer relaxed_by_glpk(const core::ChoiceProgramme& programme, double most_s);

/// The best choice, as far as GLPK tells choices apart (1e-7). Not begun where the relaxation does not end in that time.
GlpkAnswer solved_by_glpk(const core::ChoiceProgramme& programme, double most_s);

}  // namespace berth::bench
