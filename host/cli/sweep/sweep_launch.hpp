#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth::cli {

/// What mpirun or srun says about this process.
struct SweepLaunch {
  std::int64_t rank = 0, size = 1;
  std::string id;  ///< of this call of the launcher
};
/// From the environment; one process where there is no launcher.
SweepLaunch sweep_launch();

/// Where the first process of a sweep listens, in a file beside the store that only its owner reads.
struct SweepMeeting {
  std::string launch, token, host;
  std::uint16_t port = 0;
  std::vector<std::string> addresses;
};
std::string meeting_file(const std::string& store);
/// @throws EnvironmentError.
void write_meeting(const std::string& file, const SweepMeeting& meeting);
/// Nothing where there is none, or one of another call of the launcher.
std::optional<SweepMeeting> read_meeting(const std::string& file, const std::string& launch);
/// A number that nobody guesses, as 32 hexadecimal digits.
std::string random_token();
std::string host_name();

}  // namespace berth::cli
