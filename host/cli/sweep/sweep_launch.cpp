#include "host/cli/sweep/sweep_launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "berth/error.hpp"
#include "host/io/files/file_error.hpp"
#include "host/results/sha256.hpp"

namespace berth::cli {
namespace {

constexpr std::string_view kMeetingHead = "berth sweep 1";
constexpr const char* kMeetingEnd = ".workers-";

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 ? std::optional(number) : std::nullopt;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no code calls setenv
  return value == nullptr ? "" : value;
}

struct Launcher {
  const char *rank, *size;
  const char *id, *more_id;
};
// Open MPI, MPICH and Intel MPI, Slurm's srun. Within an mpirun of a Slurm job the first are right.
constexpr Launcher kLaunchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"},
                                   {"PMI_RANK", "PMI_SIZE", "PMI_JOBID", "PMI_KVS"},
                                   {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_JOB_ID", "SLURM_STEP_ID"}};

}  // namespace

SweepLaunch sweep_launch() {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = number_of(variable(launcher.rank)), size = number_of(variable(launcher.size));
    if (rank && size && *size > 1 && *rank < *size) return {*rank, *size, variable(launcher.id) + "/" + variable(launcher.more_id)};
  }
  return {};
}

std::string meeting_file(const std::string& store, const SweepLaunch& launch) {
  constexpr std::size_t kDigits = 12;
  return store + kMeetingEnd + results::sha256_of(launch.id).substr(0, kDigits);
}

void remove_other_meetings(const std::string& store, const SweepLaunch& launch) {
  namespace fs = std::filesystem;
  const std::string own = fs::path(meeting_file(store, launch)).filename().string();
  const std::string begin = fs::path(store).filename().string() + kMeetingEnd;
  std::error_code ignored;
  std::vector<fs::path> others;
  for (const auto& entry : fs::directory_iterator(fs::absolute(store, ignored).parent_path(), ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.substr(0, begin.size()) == begin && name.substr(0, own.size()) != own) others.push_back(entry.path());
  }
  for (const fs::path& other : others) fs::remove(other, ignored);
}

void write_meeting(const std::string& file, const SweepMeeting& meeting) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n", kMeetingHead, meeting.token, meeting.host, meeting.port);
  for (const std::string& address : meeting.addresses) text += address + "\n";
  const std::string fresh = fmt::format("{}.{}", file, ::getpid());
  const int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  int error = written ? 0 : errno;
  if (fd >= 0) ::close(fd);
  if (written && std::rename(fresh.c_str(), file.c_str()) != 0) error = errno;
  if (error == 0) return;
  ::unlink(fresh.c_str());
  io::fail_file("write", file, error);
}

std::optional<SweepMeeting> read_meeting(const std::string& file) {
  std::ifstream in(file);
  std::string head, port;
  SweepMeeting meeting;
  if (!std::getline(in, head) || head != kMeetingHead) return std::nullopt;
  std::getline(in, meeting.token), std::getline(in, meeting.host), std::getline(in, port);
  const auto number = number_of(port);
  if (!number || *number < 1 || *number > UINT16_MAX) return std::nullopt;
  meeting.port = static_cast<std::uint16_t>(*number);
  for (std::string address; std::getline(in, address);) meeting.addresses.push_back(address);
  return meeting;
}

std::string random_token() {
  std::uint64_t parts[2];
  if (::getrandom(parts, sizeof parts, 0) != sizeof parts)
    throw EnvironmentError(fmt::format("no random numbers: {}", std::generic_category().message(errno)));
  return fmt::format("{:016x}{:016x}", parts[0], parts[1]);
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace berth::cli
