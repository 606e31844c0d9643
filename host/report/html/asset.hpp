#pragma once

#include <string_view>

/// What web/report builds: asset/, compiled into the command.
namespace berth::report {

std::string_view report_script();
std::string_view report_style();
/// Content of the page's Content-Security-Policy: this script and this style, and nothing from a network.
std::string_view report_security();

}  // namespace berth::report
