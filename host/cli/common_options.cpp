#include "host/cli/common_options.hpp"

namespace berth::cli {

void add_seed_option(CLI::App& app, std::uint64_t& seed, const std::string& what) {
  app.add_option("--seed", seed, what)->check(whole_number<std::uint64_t>())->type_name("N")->capture_default_str();
}

CLI::Option* add_out_option(CLI::App& app, std::string& path, const std::string& what) {
  return app.add_option("--out", path, what + "; - for standard output")->type_name("FILE");
}

void add_json_flag(CLI::App& app, bool& json, const std::string& what) { app.add_flag("--json", json, what); }

void add_text_options(CLI::App& app, TextOptions& text) {
  app.add_option("--color", text.colour, "Colour: auto (on a terminal), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->type_name("WHEN")
      ->capture_default_str();
  app.add_option("--rows", text.rows, "Most rows of the table; 0 for all")
      ->check(whole_number<std::size_t>())
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--all", text.all, "List also jobs that keep running or wait");
}

}  // namespace berth::cli
