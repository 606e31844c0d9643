#pragma once

#include "host/core/choice/shape_program.hpp"
#include "host/io/files/write_pieces.hpp"

namespace berth::io {

/// Writes the program in CPLEX LP format, which glpsol, cbc, HiGHS and Gurobi read.
/// Names are indices (x3_1: the second option of the fourth job); comments name the jobs. Numbers are integers and exact.
/// Lines have at most 255 characters, the smallest limit of readers.
void write_lp(const core::ShapeProgram& program, const WritePiece& write);

}  // namespace berth::io
