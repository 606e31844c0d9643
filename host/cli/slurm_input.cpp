#include "host/cli/slurm_input.hpp"

#include "berth/io.hpp"
#include "host/cli/console.hpp"
#include "host/io/file_error.hpp"

namespace berth::cli {

io::SlurmImport read_slurm(const std::vector<std::string>& paths, bool held, bool tell_notes) {
  std::vector<io::SlurmInput> inputs;
  inputs.reserve(paths.size());
  for (const std::string& path : paths) inputs.push_back({io::input_name(path), io::read_file(path)});
  io::SlurmImport imported = io::import_slurm(inputs, {held});
  if (tell_notes) {
    for (const std::string& note : imported.notes) complain("note: " + note);
  }
  return imported;
}

}  // namespace berth::cli
