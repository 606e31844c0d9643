#pragma once

#include <string>

#include "berth/error.hpp"

namespace berth::test {

/// The message of the InputError that the body throws, or "no error".
template <class Body>
std::string problem_of(Body&& body) {
  try {
    body();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace berth::test
