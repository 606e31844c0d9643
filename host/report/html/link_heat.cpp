#include "host/report/html/link_heat.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <set>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/core/base/violations.hpp"
#include "host/report/html/html_text.hpp"

namespace berth::report {
namespace {

constexpr std::size_t kMostLinks = 200, kMostGangs = 32;

// One hue that darkens: ten shades up to the capacity, the last also above it.
int shade_of(double load) { return static_cast<int>(std::clamp(load, 0.0, 1.0) * 9); }

}  // namespace

std::vector<HeatedLink> read_links(const std::string& path) {
  const std::string text = io::read_file(path);
  const auto fail = [&](const std::string& pointer, const std::string& problem) { throw InputError(path, pointer, 0, problem); };
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (const auto error = parser.parse(text).get(document)) fail("", fmt::format("is no JSON: {}", simdjson::error_message(error)));
  std::string_view schema;
  if (document["schema"].get(schema) != simdjson::SUCCESS || schema != "berth.links.v1")
    fail("/schema", "is not 'berth.links.v1': write the file by berth explain --links --json");
  simdjson::dom::array rows;
  if (document["links"].get(rows) != simdjson::SUCCESS) fail("/links", "is no list");
  std::vector<HeatedLink> links;
  for (const simdjson::dom::element row : rows) {
    const std::string at = fmt::format("/links/{}", links.size());
    HeatedLink& link = links.emplace_back();
    std::string_view name;
    if (row["link"].get(name) != simdjson::SUCCESS) fail(at + "/link", "is no text");
    link.name = name;
    if (row["load"].get(link.load) != simdjson::SUCCESS || link.load < 0) fail(at + "/load", "is no number from 0 on");
    simdjson::dom::array gangs;
    if (row["gangs"].get(gangs) != simdjson::SUCCESS) fail(at + "/gangs", "is no list");
    for (const simdjson::dom::element gang : gangs) {
      std::string_view job;
      if (gang.get(job) != simdjson::SUCCESS) fail(at + "/gangs", "has something else than texts");
      link.gangs.emplace_back(job);
    }
  }
  std::stable_sort(links.begin(), links.end(), [](const HeatedLink& a, const HeatedLink& b) { return a.load > b.load; });
  return links;
}

std::string link_heat_map(const std::vector<HeatedLink>& links) {
  const std::size_t shown = std::min(links.size(), kMostLinks);
  std::map<std::string, std::int64_t> on;  // gang -> links
  for (std::size_t l = 0; l < shown; ++l) {
    for (const std::string& gang : links[l].gangs) ++on[gang];
  }
  std::vector<std::pair<std::int64_t, std::string>> order;
  order.reserve(on.size());
  for (const auto& [gang, n] : on) order.emplace_back(-n, gang);
  std::sort(order.begin(), order.end());
  if (order.size() > kMostGangs) order.resize(kMostGangs);
  std::string head = "<th scope=\"col\">Link</th><th scope=\"col\">Load <small>%</small></th><th scope=\"col\">Gangs</th>", rows;
  for (const auto& [n, gang] : order) head += fmt::format("<th scope=\"col\">{}</th>", html_text(gang));
  for (std::size_t l = 0; l < shown; ++l) {
    const HeatedLink& link = links[l];
    const std::set<std::string> gangs(link.gangs.begin(), link.gangs.end());
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"heat heat-{}\" data-value=\"{}\">{:.1f}</td><td>{}</td>",
                        html_text(link.name), shade_of(link.load), link.load, 100 * link.load, gangs.size());
    for (const auto& [n, gang] : order) {
      rows += gangs.count(gang) > 0 ? fmt::format("<td class=\"heat heat-{}\">yes</td>", shade_of(link.load)) : std::string("<td></td>");
    }
    rows += "</tr>\n";
  }
  std::string html = fmt::format(
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Loads of links\"><table id=\"links-table\"><caption>Loads of "
      "links, and "
      "the "
      "gangs on them</caption><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>\n",
      head, rows);
  if (shown < links.size() || on.size() > order.size()) {
    html += fmt::format("<p class=\"note\">Shown are {} of {} with the highest loads, and {} of {} on most of them.</p>\n", shown,
                        core::counted(static_cast<std::int64_t>(links.size()), "link"), order.size(),
                        core::counted(static_cast<std::int64_t>(on.size()), "gang"));
  }
  return html;
}

}  // namespace berth::report
