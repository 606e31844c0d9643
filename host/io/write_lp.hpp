#pragma once

#include "host/core/choice_programme.hpp"
#include "host/io/write_pieces.hpp"

namespace berth::io {

/// The programme in CPLEX LP format, which glpsol, cbc, HiGHS and Gurobi read. Names are indices (x3_1: the second option of the fourth
/// job); comments say whose. Numbers are whole and exact. Lines end within 255 characters, the least that a reader of the format takes.
void write_lp(const core::ChoiceProgramme& programme, const WritePiece& write);

}  // namespace berth::io
