#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "berth/export.hpp"

namespace berth {

/// The root of all that Berth throws but std::bad_alloc. "No node fits" is an answer, never an error.
class BERTH_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A caller's mistake: a bad argument, an unknown policy or parameter, a delta that names nothing.
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
  const std::string& pointer() const { return pointer_; }  ///< JSON pointer, empty for the whole.
  int line() const { return line_; }                       ///< 1-based, 0 when not known.

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

/// The environment failed: a device, a file that cannot be read or written. Where memory runs out, std::bad_alloc is thrown as it is.
class BERTH_API EnvironmentError : public Error {
 public:
  using Error::Error;
};

/// Memory ran out in the middle of a change of this state, which no longer holds together: only `delta::Load` makes it usable again.
class BERTH_API StateLost : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// A plan computed on an older revision was offered for commit.
class BERTH_API StalePlan : public Error {
 public:
  using Error::Error;
};

/// The engine broke its own promise (for example a plan that its validator refuses).
class BERTH_API InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace berth
