#include "python-free-bindings/c/src/guarded.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "python-free-bindings/c/src/structs.hpp"

namespace berth::c {
namespace {

// A plain array: filling it allocates nothing.
constexpr std::size_t kMessageBytes = 2048;
thread_local std::array<char, kMessageBytes> last_message;

template <std::size_t N>
void copy(char (&to)[N], const char* from) noexcept {
  const std::size_t n = std::min(std::strlen(from), N - 1);
  std::memcpy(to, from, n);
  to[n] = 0;
}

void set_last(const char* message) noexcept {
  const std::size_t n = std::min(std::strlen(message), last_message.size() - 1);
  std::memcpy(last_message.data(), message, n);
  last_message[n] = 0;
}

// For an error object of a wrong size the status alone reports the error.
bool takes_report(const berth_error* error) noexcept {
  return error != nullptr && error->struct_size >= offsetof(berth_error, line) && error->struct_size <= kMaxStructBytes;
}

void report(berth_error* error, const berth_error& what) noexcept {
  if (!takes_report(error)) return;
  put_struct(error, what);
  // A text truncated by a smaller object is still zero-terminated.
  if (error->struct_size < sizeof what && error->struct_size > offsetof(berth_error, file)) {
    reinterpret_cast<char*>(error)[error->struct_size - 1] = 0;
  }
}

}  // namespace

berth_status fail(berth_error* error, berth_status status, const char* message) noexcept {
  set_last(message);
  berth_error what{};
  what.status = status;
  copy(what.message, message);
  report(error, what);
  return status;
}

berth_status fail(berth_error* error, const InputError& e) noexcept {
  set_last(e.what());
  berth_error what{};
  what.status = BERTH_INPUT_ERROR;
  what.line = e.line();
  copy(what.file, e.file().c_str());
  copy(what.pointer, e.pointer().c_str());
  copy(what.message, e.what());
  report(error, what);
  return what.status;
}

berth_status succeed(berth_error* error) noexcept {
  last_message[0] = 0;
  if (takes_report(error)) error->status = BERTH_OK;
  return BERTH_OK;
}

}  // namespace berth::c

const char* berth_last_error(void) { return berth::c::last_message.data(); }
