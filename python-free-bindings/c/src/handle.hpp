#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "berth/error.hpp"

/// Objects behind the opaque pointers of berth.h.
namespace berth::c {

enum class HandleKind : std::uint32_t { kState = 0xbe271501, kMemory = 0xbe271502, kEngine = 0xbe271503, kPlan = 0xbe271504 };

class InvalidHandle : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
};
class Busy : public Error {
 public:
  using Error::Error;
};

/// The part of every handle that identifies it. It outlives its content for a while (`retire`), so that use after its
/// end is detected.
class Handle {
 public:
  explicit Handle(HandleKind kind) : kind_(static_cast<std::uint32_t>(kind)) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  virtual ~Handle() = default;

  /// Sequentially consistent with `visit` and `retire`: `retire` waits for every visitor that still finds the handle
  /// valid.
  bool is(HandleKind kind) const { return kind_.load(std::memory_order_seq_cst) == static_cast<std::uint32_t>(kind); }

  bool try_enter() { return !busy_.exchange(true, std::memory_order_acquire); }
  void leave() { busy_.store(false, std::memory_order_release); }

  /// For calls from any thread: destroying the handle waits for visitors inside.
  void visit() { visitors_.fetch_add(1, std::memory_order_seq_cst); }
  void end_visit() { visitors_.fetch_sub(1, std::memory_order_seq_cst); }

 protected:
  virtual void drop() noexcept = 0;  // destroys the content of the handle

 private:
  friend void retire(Handle* handle) noexcept;

  std::atomic<std::uint32_t> kind_;
  std::atomic<bool> busy_{false};
  std::atomic<std::int32_t> visitors_{0};
};

/// Ends a handle that the caller has entered. Its shell is freed after some hundred others have ended.
void retire(Handle* handle) noexcept;

template <HandleKind K, class Content>
class HandleOf : public Handle {
 public:
  static constexpr HandleKind kKind = K;
  template <class... Args>
  explicit HandleOf(Args&&... args) : Handle(K), content_(std::make_unique<Content>(std::forward<Args>(args)...)) {}
  Content& content() { return *content_; }

 private:
  void drop() noexcept override { content_.reset(); }
  std::unique_ptr<Content> content_;
};

/// @throws InvalidHandle for null, a handle of another kind, or one known to have ended.
template <class H>
H& checked(H* handle, const char* what) {
  if (handle == nullptr) throw InvalidHandle(std::string(what) + " is null");
  if (reinterpret_cast<std::uintptr_t>(handle) % alignof(H) != 0 || !handle->is(H::kKind)) {
    throw InvalidHandle(std::string(what) + " is no such handle, or was destroyed");
  }
  return *handle;
}

/// Exclusive use of a handle for the time of a call.
template <class H>
class Use {
 public:
  Use(H* handle, const char* what) : handle_(checked(handle, what)) {
    if (!handle_.try_enter()) throw Busy(std::string(what) + " is in use by another call");
    if (!handle_.is(H::kKind)) {  // it ended while this call entered
      handle_.leave();
      throw InvalidHandle(std::string(what) + " was destroyed");
    }
  }
  ~Use() { handle_.leave(); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  auto* operator->() { return &handle_.content(); }
  auto& operator*() { return handle_.content(); }

 private:
  H& handle_;
};

}  // namespace berth::c
