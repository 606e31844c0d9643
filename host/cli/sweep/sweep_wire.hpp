#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What processes of one sweep say to each other over TCP.
namespace berth::cli {

enum class WireType : std::uint8_t {
  kHello,    ///< worker: token, version, fingerprint of the plan, threads
  kWelcome,  ///< the first process: the worker may wait for tasks
  kRefuse,   ///< the first process: why the worker is of no use
  kTask,     ///< the first process: cell, seed
  kResult,   ///< worker: cell, seed, key, packed run
  kFailed,   ///< worker: cell, seed, problem
  kEnd,      ///< the first process: all runs are done
};

struct WireMessage {
  WireType type = WireType::kEnd;
  std::string body;
};

/// Writes numbers and texts of a body.
class WireWriter {
 public:
  WireWriter& number(std::int64_t value);
  WireWriter& text(std::string_view value);
  const std::string& body() const { return body_; }

 private:
  std::string body_;
};

/// Reads them. @throws InvalidArgument where a body is too short.
class WireReader {
 public:
  explicit WireReader(std::string_view body) : rest_(body) {}
  std::int64_t number();
  std::string text();

 private:
  std::string_view rest_;
};

/// A connection. One thread reads; any thread may send.
class WireSocket {
 public:
  explicit WireSocket(int fd);
  ~WireSocket();
  WireSocket(const WireSocket&) = delete;
  WireSocket& operator=(const WireSocket&) = delete;

  int fd() const { return fd_; }
  /// Longer messages end the connection.
  void allow(std::size_t most_bytes) { most_bytes_ = most_bytes; }
  /// Takes what has come, without waiting. @returns false where the connection is over.
  bool receive();
  /// The next whole message.
  std::optional<WireMessage> next();
  /// Waits until all is sent, at most half a minute without progress. @returns false where the connection is over.
  bool send(WireType type, std::string_view body);

 private:
  int fd_;
  std::size_t most_bytes_ = 4096;
  std::string received_;
  std::mutex sending_;
};

inline constexpr std::size_t kMostWireBytes = std::size_t{1} << 30;

/// A socket that listens at any free port of all addresses. @throws EnvironmentError.
int listen_at(std::uint16_t& port);
/// A connection that waits, or nothing.
std::optional<int> accept_at(int listening);
/// A connection to one of the addresses, or nothing.
std::optional<int> connect_to(const std::vector<std::string>& addresses, std::uint16_t port);
/// This host's numeric addresses, those that other hosts reach first.
std::vector<std::string> own_addresses();

}  // namespace berth::cli
