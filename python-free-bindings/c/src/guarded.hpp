#pragma once

#include <berth.h>
#include <exception>
#include <new>
#include <system_error>

#include "berth/error.hpp"
#include "python-free-bindings/c/src/handle.hpp"

/// The boundary of the C ABI: no exception crosses it.
namespace berth::c {

/// A callback threw; its exception was caught.
class CallbackFailed : public Error {
 public:
  using Error::Error;
};

/// Fills the caller's error object and this thread's last message; allocates nothing. @returns status.
berth_status fail(berth_error* error, berth_status status, const char* message) noexcept;
berth_status fail(berth_error* error, const InputError& e) noexcept;
berth_status succeed(berth_error* error) noexcept;

template <class F>
berth_status guarded(berth_error* error, F&& f) noexcept {
  try {
    f();
    return succeed(error);
  } catch (const InputError& e) {
    return fail(error, e);
  } catch (const InvalidHandle& e) {
    return fail(error, BERTH_INVALID_HANDLE, e.what());
  } catch (const InvalidArgument& e) {
    return fail(error, BERTH_INVALID_ARGUMENT, e.what());
  } catch (const StalePlan& e) {
    return fail(error, BERTH_STALE_PLAN, e.what());
  } catch (const StateLost& e) {
    return fail(error, BERTH_STATE_LOST, e.what());
  } catch (const EnvironmentError& e) {
    return fail(error, BERTH_ENVIRONMENT_ERROR, e.what());
  } catch (const Busy& e) {
    return fail(error, BERTH_BUSY, e.what());
  } catch (const CallbackFailed& e) {
    return fail(error, BERTH_CALLBACK_FAILED, e.what());
  } catch (const std::bad_alloc&) {
    return fail(error, BERTH_OUT_OF_MEMORY, "out of memory");
  } catch (const std::system_error& e) {
    return fail(error, BERTH_ENVIRONMENT_ERROR, e.what());
  } catch (const std::exception& e) {
    return fail(error, BERTH_INTERNAL_ERROR, e.what());
  } catch (...) {
    return fail(error, BERTH_INTERNAL_ERROR, "unknown exception");
  }
}

/// @throws InvalidArgument "NAME is null"
template <class T>
T& required(T* pointer, const char* name) {
  if (pointer == nullptr) throw InvalidArgument(std::string(name) + " is null");
  return *pointer;
}

/// Gives the result of `make` to the caller's output pointer.
template <class H, class Make>
void give(H** out, const Make& make) {
  H*& place = required(out, "out");
  place = make();
}

}  // namespace berth::c
