#include "host/cli/base/slurm_input.hpp"

#include "berth/io.hpp"
#include "host/cli/base/console.hpp"
#include "host/io/files/file_error.hpp"

namespace berth::cli {

bool looks_like_slurm(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != text.npos; };
  return has("\"openapi/") || has("\"data_parser/") || has("SwitchName=") || text.substr(0, 4) == "now=";
}

io::SlurmImport read_slurm(const std::vector<std::string>& paths, const io::SlurmOptions& options, bool print_notes) {
  std::vector<io::SlurmInput> inputs;
  inputs.reserve(paths.size());
  for (const std::string& path : paths) inputs.push_back({io::input_name(path), io::read_file(path)});
  io::SlurmImport imported = io::import_slurm(inputs, options);
  if (print_notes) {
    for (const std::string& note : imported.notes) print_error("note: " + note);
  }
  return imported;
}

}  // namespace berth::cli
