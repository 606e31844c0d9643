#include "host/cli/sweep/sweep_wire.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "berth/error.hpp"

namespace berth::cli {
namespace {

constexpr std::size_t kHeadBytes = 9;  // type and length
constexpr int kSendWaitMs = 30'000, kConnectWaitMs = 5'000;

void append_number(std::string& out, std::uint64_t value) {
  for (int byte = 0; byte < 8; ++byte) out += static_cast<char>(value >> (8 * byte));
}

std::uint64_t number_at(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t byte = 8; byte-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[byte]);
  return value;
}

void set_option(int fd, int level, int name, int value) { (void)::setsockopt(fd, level, name, &value, sizeof value); }

// A host that is switched off sends nothing any more; the connection then ends within half a minute.
void watch_peer(int fd) {
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 4);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 30'000);
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

bool wait_for(int fd, short what, int wait_ms) {
  pollfd wait{fd, what, 0};
  int ready = 0;
  do {
    ready = ::poll(&wait, 1, wait_ms);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool connected(int fd, const sockaddr* address, socklen_t size) {
  if (::connect(fd, address, size) == 0) return true;
  if (errno != EINPROGRESS || !wait_for(fd, POLLOUT, kConnectWaitMs)) return false;
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
}

}  // namespace

WireWriter& WireWriter::number(std::int64_t value) {
  append_number(body_, static_cast<std::uint64_t>(value));
  return *this;
}

WireWriter& WireWriter::text(std::string_view value) {
  append_number(body_, value.size());
  body_ += value;
  return *this;
}

std::int64_t WireReader::number() {
  if (rest_.size() < 8) throw InvalidArgument("a message of a worker ends early");
  const std::uint64_t value = number_at(rest_);
  rest_.remove_prefix(8);
  return static_cast<std::int64_t>(value);
}

std::string WireReader::text() {
  const auto size = static_cast<std::uint64_t>(number());
  if (size > rest_.size()) throw InvalidArgument("a message of a worker ends early");
  std::string value(rest_.substr(0, static_cast<std::size_t>(size)));
  rest_.remove_prefix(static_cast<std::size_t>(size));
  return value;
}

WireSocket::WireSocket(int fd) : fd_(fd) {
  (void)::fcntl(fd_, F_SETFL, O_NONBLOCK);
  watch_peer(fd_);
}

WireSocket::~WireSocket() { ::close(fd_); }

bool WireSocket::receive() {
  constexpr int kMostReads = 64;  // then others come to their turn
  char buffer[1 << 16];
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    if (got > 0) {
      received_.append(buffer, static_cast<std::size_t>(got));
      const bool too_long = received_.size() >= kHeadBytes && number_at(std::string_view(received_).substr(1)) > most_bytes_;
      if (too_long) return false;
    } else if (got == 0 || errno != EINTR) {
      return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
  }
  return true;
}

std::optional<WireMessage> WireSocket::next() {
  if (received_.size() < kHeadBytes) return std::nullopt;
  const std::uint64_t size = number_at(std::string_view(received_).substr(1));
  if (received_.size() - kHeadBytes < size) return std::nullopt;
  WireMessage message{static_cast<WireType>(received_[0]), received_.substr(kHeadBytes, static_cast<std::size_t>(size))};
  received_.erase(0, kHeadBytes + static_cast<std::size_t>(size));
  return message;
}

bool WireSocket::send(WireType type, std::string_view body) {
  std::string head(1, static_cast<char>(type));
  append_number(head, body.size());
  const std::lock_guard<std::mutex> lock(sending_);
  for (std::string_view rest : {std::string_view(head), body}) {
    while (!rest.empty()) {
      const ssize_t sent = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        rest.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        if (!wait_for(fd_, POLLOUT, kSendWaitMs)) return false;
      } else if (errno != EINTR) {
        return false;
      }
    }
  }
  return true;
}

int listen_at(std::uint16_t& port) {
  int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  sockaddr_in four{};
  four.sin_family = AF_INET;
  bool bound = false;
  if (fd >= 0) {
    set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
    bound = ::bind(fd, reinterpret_cast<sockaddr*>(&six), sizeof six) == 0;
    if (!bound) ::close(fd);
  }
  if (!bound) {
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bound = fd >= 0 && ::bind(fd, reinterpret_cast<sockaddr*>(&four), sizeof four) == 0;
  }
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (!bound || ::listen(fd, SOMAXCONN) != 0 || ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &size) != 0) {
    const int error = errno;
    if (fd >= 0) ::close(fd);
    throw EnvironmentError(fmt::format("cannot listen for workers: {}", std::generic_category().message(error)));
  }
  port =
      ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&own)->sin6_port : reinterpret_cast<sockaddr_in*>(&own)->sin_port);
  return fd;
}

std::optional<int> accept_at(int listening) {
  const int fd = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  return fd < 0 ? std::nullopt : std::optional(fd);
}

std::optional<int> connect_to(const std::vector<std::string>& addresses, std::uint16_t port) {
  for (const std::string& address : addresses) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    addrinfo* found = nullptr;
    if (::getaddrinfo(address.c_str(), fmt::format("{}", port).c_str(), &hints, &found) != 0) continue;
    const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool ok = fd >= 0 && connected(fd, found->ai_addr, found->ai_addrlen);
    ::freeaddrinfo(found);
    if (ok) return fd;
    if (fd >= 0) ::close(fd);
  }
  return std::nullopt;
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses, local;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return {"127.0.0.1"};
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    const int family = one->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    char text[NI_MAXHOST];
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::getnameinfo(one->ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    ((one->ifa_flags & IFF_LOOPBACK) != 0 ? local : addresses).emplace_back(text);
  }
  ::freeifaddrs(all);
  addresses.insert(addresses.end(), local.begin(), local.end());
  return addresses;
}

}  // namespace berth::cli
