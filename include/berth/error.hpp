#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "berth/export.hpp"

namespace berth {

/// Base class of everything that Berth throws except std::bad_alloc. "No node fits" is an answer, not an error.
class BERTH_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A mistake of the caller: a bad argument, an unknown policy or parameter, a delta for an unknown object.
class BERTH_API InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// Input that cannot be accepted. `what()` reads "file:line: /json/pointer: problem".
class BERTH_API InputError : public Error {
 public:
  InputError(std::string file, std::string pointer, int line, const std::string& problem)
      : Error(text(file, pointer, line, problem)), file_(std::move(file)), pointer_(std::move(pointer)), line_(line) {}

  const std::string& file() const { return file_; }
  const std::string& pointer() const { return pointer_; }  ///< empty for the whole document
  int line() const { return line_; }                       ///< 1-based; 0: not known

 private:
  static std::string text(std::string at, const std::string& pointer, int line, const std::string& problem) {
    if (line > 0) at.append(":").append(std::to_string(line));
    at.append(": ");
    if (!pointer.empty()) at.append(pointer).append(": ");
    return at.append(problem);
  }

  std::string file_;
  std::string pointer_;
  int line_;
};

/// The environment failed: a device, or a file that cannot be read or written. Out of memory is std::bad_alloc instead.
class BERTH_API EnvironmentError : public Error {
 public:
  using Error::Error;
};

/// Memory ran out during a change and left the state inconsistent. Only `delta::Load` makes it usable again.
class BERTH_API StateLost : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// A plan was committed to a state whose revision is not the plan's.
class BERTH_API StalePlan : public Error {
 public:
  using Error::Error;
};

/// The engine broke one of its own guarantees, for example by a plan that its validator rejects.
class BERTH_API InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace berth
