#include "host/cli/base/common_options.hpp"

namespace berth::cli {

void add_seed_option(CLI::App& app, std::uint64_t& seed, const std::string& what) {
  app.add_option("--seed", seed, what)->check(whole_number<std::uint64_t>())->type_name("N")->capture_default_str();
}

CLI::Option* add_out_option(CLI::App& app, std::string& path, const std::string& what) {
  return app.add_option("--out", path, what + "; - is standard output")->type_name("FILE");
}

void add_json_flag(CLI::App& app, bool& json, const std::string& what) { app.add_flag("--json", json, what); }

void add_text_options(CLI::App& app, TextOptions& text) {
  app.add_option("--color", text.colour, "Colour the output; auto does so on a terminal")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str();
  app.add_option("--rows", text.rows, "List at most N jobs and N reasons; 0 lists all")
      ->check(whole_number<std::size_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--all", text.all, "Also list jobs that keep running or wait");
}

}  // namespace berth::cli
