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

/// Where the first process of a sweep listens, in a file next to the store that only its owner reads.
struct SweepMeeting {
  std::string token, host;
  std::uint16_t port = 0;
  std::vector<std::string> addresses;
};
std::string meeting_file(const std::string& store, const SweepLaunch& launch);
/// Removes the files of other calls, which were killed. Only the process with the lock of the store may do that.
void remove_other_meetings(const std::string& store, const SweepLaunch& launch);
/// @throws EnvironmentError.
void write_meeting(const std::string& file, const SweepMeeting& meeting);
/// Nothing where there is none.
std::optional<SweepMeeting> read_meeting(const std::string& file);
/// A random number that cannot be guessed, as 32 hexadecimal digits.
std::string random_token();
std::string host_name();

}  // namespace berth::cli
