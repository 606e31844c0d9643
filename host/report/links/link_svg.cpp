#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/state/state_names.hpp"
#include "host/report/links/link_report.hpp"

namespace berth::report {
namespace {

constexpr std::size_t kMostBars = 60, kMostCells = 32;
constexpr int kWidth = 960, kLeft = 80, kBarTop = 60, kBarHeight = 260, kCell = 20, kHeatTop = 560, kHeatLeft = 200;

// One hue that darkens: its luminance alone orders it. 0 to 1,000,000.
std::string shade(std::int64_t ppm) {
  const auto part = [&](std::int64_t from, std::int64_t to) {
    return from + (to - from) * std::clamp<std::int64_t>(ppm, 0, 1'000'000) / 1'000'000;
  };
  return fmt::format("#{:02x}{:02x}{:02x}", part(247, 8), part(251, 48), part(255, 107));
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

// At most `most` bytes of text, cut between characters.
std::string cut(std::string_view text, std::size_t most) {
  if (text.size() <= most) return escaped(text);
  std::size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return escaped(text.substr(0, end)) + "...";
}

// Above this a load is drawn as this, so that sums and products stay within 64 bits.
constexpr std::int64_t kMostDrawn = 1'000'000'000'000;

std::string percent_of(std::int64_t ppm) { return core::decimal_text((ppm + 5'000) / 10'000, 0) + " %"; }

class LinkPicture {
 public:
  LinkPicture(const ClusterState& state, const LinkReport& report) : names_(state), report_(report) {}

  std::string run() {
    choose_gangs();
    bars();
    heat_map();
    const int height = kHeatTop + kCell * static_cast<int>(std::max<std::size_t>(1, gangs_.size())) + 120;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n{2}</svg>\n",
        kWidth, height, body_);
  }

 private:
  void text(int x, int y, std::string_view anchor, const std::string& content, std::string_view more = "") {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, content);
  }
  void title(int y, const std::string& content) { text(kLeft, y, "start", content, " font-size=\"16\" font-weight=\"bold\""); }

  std::int64_t load(std::size_t link) const { return std::min(kMostDrawn, report_.links[link].load_ppm); }

  // Links by load, alone or in groups of equal size. A bar is as high as its highest, with a line at its mean.
  void bars() {
    const std::size_t n = report_.links.size(), n_bars = std::min(n, kMostBars);
    title(24, n > kMostBars ? fmt::format("Load of {} links, by load, in {} groups", n, n_bars)
                            : fmt::format("Load of {}", core::counted(static_cast<std::int64_t>(n), "link")));
    const std::int64_t highest = n == 0 ? 1'000'000 : std::max<std::int64_t>(1'000'000, load(0));
    const auto y_of = [&](std::int64_t ppm) { return kBarTop + kBarHeight - static_cast<int>(ppm * kBarHeight / highest); };
    const int right = kWidth - 40;
    for (int part = 0; part <= 4; ++part) {
      const std::int64_t ppm = highest / 4 * part;
      body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#dddddd\"/>\n", kLeft, y_of(ppm), right, y_of(ppm));
      text(kLeft - 6, y_of(ppm) + 4, "end", percent_of(ppm));
    }
    const int step = n_bars == 0 ? 1 : std::min(60, (right - kLeft) / static_cast<int>(n_bars));
    for (std::size_t b = 0; b < n_bars; ++b) {
      const std::size_t from = b * n / n_bars, to = (b + 1) * n / n_bars;
      std::int64_t sum = 0;
      for (std::size_t l = from; l < to; ++l) sum += load(l) / static_cast<std::int64_t>(to - from);
      const std::int64_t top = load(from);
      const int x = kLeft + static_cast<int>(b) * step + 1;
      const std::string name = to - from == 1 ? fmt::format("{}: {}", cut(report_.links[from].name, 80), percent_of(top))
                                              : fmt::format("{} links from {} to {}", to - from, percent_of(top), percent_of(load(to - 1)));
      body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#333333\"{}><title>{}</title></rect>\n",
                           x, y_of(top), step - 2, kBarTop + kBarHeight - y_of(top), top > 1'000'000 ? shade(850'000) : shade(300'000),
                           top > 1'000'000 ? " stroke-width=\"2\"" : "", name);
      body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#000000\" stroke-width=\"2\"/>\n", x, y_of(sum),
                           x + step - 2, y_of(sum));
      if (n_bars <= 20 || b % 10 == 0)
        body_ += fmt::format("<text transform=\"translate({} {}) rotate(45)\" font-size=\"10\">{}</text>\n", x + step / 2 - 4,
                             kBarTop + kBarHeight + 12,
                             n > kMostBars ? fmt::format("from link {}", from + 1) : cut(report_.links[from].name, 32));
    }
    body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#000000\" stroke-dasharray=\"6 4\"/>\n", kLeft,
                         y_of(1'000'000), right, y_of(1'000'000));
    text(right, y_of(1'000'000) - 4, "end", "capacity");
    body_ += fmt::format("<text transform=\"translate(20 {}) rotate(-90)\" text-anchor=\"middle\">load, part of the capacity</text>\n",
                         kBarTop + kBarHeight / 2);
    legend_box(kLeft + 400, shade(300'000), "within the capacity");
    legend_box(kLeft + 560, shade(850'000), "above it");
    body_ +=
        fmt::format("<line x1=\"{}\" y1=\"36\" x2=\"{}\" y2=\"36\" stroke=\"#000000\" stroke-width=\"2\"/>\n", kLeft + 660, kLeft + 680);
    text(kLeft + 686, 40, "start", "mean of a bar's links");
  }
  void legend_box(int x, const std::string& fill, const std::string& label) {
    body_ += fmt::format("<rect x=\"{}\" y=\"30\" width=\"12\" height=\"12\" fill=\"{}\" stroke=\"#333333\"/>\n", x, fill);
    text(x + 18, 40, "start", label);
  }

  // The gangs that overlap most with others, by job rank.
  void choose_gangs() {
    std::map<std::int32_t, std::int64_t> overlap;
    for (const SharingPair& pair : report_.pairs) {
      overlap[pair.first] += std::min(kMostDrawn, pair.overlap_ppm);
      overlap[pair.second] += std::min(kMostDrawn, pair.overlap_ppm);
    }
    for (const auto& [gang, sum] : overlap) gangs_.push_back(gang);
    sharing_ = gangs_.size();
    std::stable_sort(gangs_.begin(), gangs_.end(), [&](std::int32_t a, std::int32_t b) { return overlap[a] > overlap[b]; });
    gangs_.resize(std::min(gangs_.size(), kMostCells));
    std::sort(gangs_.begin(), gangs_.end());
  }

  void heat_map() {
    const std::string which =
        sharing_ > gangs_.size() ? fmt::format(": the {} of {} that overlap most", gangs_.size(), sharing_) : std::string();
    title(kHeatTop - 110, "How much gangs that share links slow each other down" + which);
    if (gangs_.empty()) {
      text(kLeft, kHeatTop, "start", "No two gangs share a link.");
      return;
    }
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> lost;  // (slowed, by)
    std::int64_t most = 1;
    for (const SharingPair& pair : report_.pairs) {
      lost[{pair.first, pair.second}] = 1'000'000 - pair.first_expected_ppm;
      lost[{pair.second, pair.first}] = 1'000'000 - pair.second_expected_ppm;
      most = std::max({most, 1'000'000 - pair.first_expected_ppm, 1'000'000 - pair.second_expected_ppm});
    }
    const int n = static_cast<int>(gangs_.size());
    for (int row = 0; row < n; ++row) {
      const std::int32_t slowed = gangs_[static_cast<std::size_t>(row)];
      const std::string name = cut(id(slowed), 20);
      text(kHeatLeft - 6, kHeatTop + row * kCell + 14, "end", name);
      body_ += fmt::format("<text transform=\"translate({} {}) rotate(-60)\" font-size=\"10\">{}</text>\n", kHeatLeft + row * kCell + 12,
                           kHeatTop - 6, cut(id(slowed), 12));
      for (int column = 0; column < n; ++column) {
        const std::int32_t by = gangs_[static_cast<std::size_t>(column)];
        const auto found = lost.find({slowed, by});
        const bool shares = found != lost.end();
        body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#cccccc\"><title>{}</title></rect>\n",
                             kHeatLeft + column * kCell, kHeatTop + row * kCell, kCell, kCell,
                             shares ? shade(found->second * 1'000'000 / most) : "#ffffff",
                             shares          ? fmt::format("{} by {}: {}", name, cut(id(by), 20), percent_of(found->second))
                             : row == column ? name
                                             : "no shared link");
      }
    }
    const int bottom = kHeatTop + n * kCell;
    text(kHeatLeft + n * kCell / 2, bottom + 20, "middle", "by this gang");
    body_ += fmt::format("<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">slowed gang</text>\n", 40,
                         kHeatTop + n * kCell / 2);
    for (int part = 0; part <= 4; ++part) {
      body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"40\" height=\"14\" fill=\"{}\" stroke=\"#333333\"/>\n", kHeatLeft + part * 40,
                           bottom + 40, shade(part * 250'000));
      text(kHeatLeft + part * 40 + 20, bottom + 68, "middle", percent_of(most * part / 4), " font-size=\"10\"");
    }
    text(kHeatLeft + 212, bottom + 52, "start", "of its speed lost, where phases are independent");
  }
  std::string_view id(std::int32_t gang) const { return names_.job_id(report_.gangs[to_index(gang)].job); }

  core::StateNames names_;
  const LinkReport& report_;
  std::vector<std::int32_t> gangs_;  // of the heat map
  std::size_t sharing_ = 0;
  std::string body_;
};

}  // namespace

std::string link_svg(const ClusterState& state, const LinkReport& report) { return LinkPicture(state, report).run(); }

}  // namespace berth::report
