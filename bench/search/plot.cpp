#include "bench/search/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

namespace berth::bench {
namespace {

constexpr double kLeft = 76, kTop = 44, kWidth = 500, kHeight = 300, kLegend = 20;
constexpr double kLeastGap = 1e-3;  // per cent; what is less, and 0, lies on the axis

// Colours that people with colour blindness tell apart (Okabe and Ito).
struct Style {
  const char* contender;
  const char* colour;
  const char* dash;
};
constexpr std::array<Style, 10> kStyles{{{"price", "#000000", "none"},
                                         {"sruf-fill", "#8c6d31", "6 3"},
                                         {"optimus", "#e69f00", "6 3"},
                                         {"pop", "#56b4e9", "6 3"},
                                         {"exact-choice", "#777777", "1 3"},
                                         {"exact", "#777777", "none"},
                                         {"ones", "#009e73", "none"},
                                         {"elastic-pollux", "#cc79a7", "none"},
                                         {"ones-plus", "#d55e00", "none"},
                                         {"ones-plus-all", "#0072b2", "3 3"}}};

Style style_of(std::string_view contender) {
  for (const Style& one : kStyles) {
    if (contender == one.contender) return one;
  }
  return {"", "#777777", "2 2"};
}

/// One line of the drawing.
struct Curve {
  const SearchRow* row;
  const std::vector<std::optional<Spread>>* gaps;
};

/// Where things lie; both axes count in powers of ten.
struct Scale {
  double first_ms, last_ms, low, high;

  double x(double ms) const { return kLeft + kWidth * std::log10(ms / first_ms) / std::log10(last_ms / first_ms); }
  double y(double gap) const {
    const double part = std::log10(std::clamp(gap, low, high) / low) / std::log10(high / low);
    return kTop + kHeight * (1 - part);
  }
};

Scale scale_of(const std::vector<double>& times_ms, const std::vector<Curve>& curves) {
  double low = 1e9, high = kLeastGap;
  for (const Curve& curve : curves) {
    for (const std::optional<Spread>& gap : *curve.gaps) {
      if (!gap) continue;
      high = std::max(high, gap->highest);
      for (const double one : {gap->lowest, gap->median}) low = std::min(low, std::max(one, kLeastGap));
    }
  }
  low = std::pow(10, std::floor(std::log10(std::min(low, high))));
  high = std::max(std::pow(10, std::ceil(std::log10(high))), 10 * low);
  return {times_ms.front(), times_ms.back(), low, high};
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>)"
                     "\n",
                     x, y, anchor, more, text);
}

std::string axes_of(const Scale& scale, const SearchRow& row) {
  std::string svg;
  const auto line = [&](double x1, double y1, double x2, double y2) {
    svg += fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>)"
                       "\n",
                       x1, y1, x2, y2);
  };
  svg += "<g stroke=\"#dddddd\">\n";
  for (double ms = scale.first_ms; ms <= scale.last_ms * 1.001; ms *= 10) line(scale.x(ms), kTop, scale.x(ms), kTop + kHeight);
  for (double gap = scale.low; gap <= scale.high * 1.001; gap *= 10) line(kLeft, scale.y(gap), kLeft + kWidth, scale.y(gap));
  svg += "</g>\n";
  for (double ms = scale.first_ms; ms <= scale.last_ms * 1.001; ms *= 10) {
    svg += text_at(scale.x(ms), kTop + kHeight + 18, "middle", fmt::format("{:g}", ms));
  }
  for (double gap = scale.low; gap <= scale.high * 1.001; gap *= 10) {
    const bool least = gap < scale.low * 1.001;
    svg += text_at(kLeft - 8, scale.y(gap) + 4, "end", fmt::format("{}{:g}", least ? "&#8804; " : "", gap));
  }
  svg += text_at(kLeft + kWidth / 2, kTop + kHeight + 38, "middle", "time since the call, ms");
  const double middle = kTop + kHeight / 2;
  svg += text_at(16, middle, "middle", row.kind == "separable" ? "below the separable bound, %" : "below the best known, %",
                 fmt::format(" transform=\"rotate(-90 16 {:.1f})\"", middle).c_str());
  svg +=
      text_at(kLeft, 24, "start", fmt::format("{}, {}: {} GPUs, {} jobs", row.cluster, row.kind, row.gpus, row.jobs), " font-size=\"15\"");
  return svg;
}

std::string curve_of(const Curve& curve, const std::vector<double>& times_ms, const Scale& scale) {
  const Style style = style_of(curve.row->contender);
  std::string upper, lower, middle;
  for (std::size_t t = 0; t < times_ms.size(); ++t) {
    const std::optional<Spread>& gap = (*curve.gaps)[t];
    if (!gap) continue;
    const double x = scale.x(times_ms[t]);
    upper += fmt::format("{:.1f},{:.1f} ", x, scale.y(gap->highest));
    lower = fmt::format("{:.1f},{:.1f} ", x, scale.y(gap->lowest)) + lower;  // backwards, so that both make a band
    middle += fmt::format("{:.1f},{:.1f} ", x, scale.y(gap->median));
  }
  if (middle.empty()) return "";
  return fmt::format(
      "<polygon points=\"{}{}\" fill=\"{}\" fill-opacity=\"0.1\"/>\n"
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n",
      upper, lower, style.colour, middle, style.colour, style.dash);
}

std::string legend_of(const std::vector<Curve>& curves) {
  std::string svg;
  double y = kTop + 10;
  for (const Curve& curve : curves) {
    const Style style = style_of(curve.row->contender);
    const double x = kLeft + kWidth + 16;
    svg += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"/>\n", x, y,
        x + 24, y, style.colour, style.dash);
    const bool late = std::none_of(curve.gaps->begin(), curve.gaps->end(), [](const auto& gap) { return gap.has_value(); });
    svg += text_at(x + 30, y + 4, "start", curve.row->contender + (late ? " (later)" : ""));
    y += kLegend;
  }
  return svg;
}

Plot plot_of(const std::vector<double>& times_ms, const std::vector<Curve>& curves) {
  const SearchRow& row = *curves.front().row;
  const Scale scale = scale_of(times_ms, curves);
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 740 396\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222222\">\n"
      "<rect width=\"740\" height=\"396\" fill=\"#ffffff\"/>\n";
  svg += axes_of(scale, row);
  for (const Curve& curve : curves) svg += curve_of(curve, times_ms, scale);
  svg += legend_of(curves);
  return {plot_name(row), svg + "</svg>\n"};
}

}  // namespace

std::string plot_name(const SearchRow& row) { return fmt::format("search-{}-{}-{}.svg", row.cluster, row.kind, row.gpus); }

std::vector<Plot> plots_of(const SearchResult& result) {
  std::vector<std::vector<Curve>> cells;  // rows of a cell stand together
  for (const SearchRow& row : result.rows) {
    if (row.section != "search" || row.plans == 0) continue;
    const Curve curve{&row, row.kind == "separable" ? &row.bound_gap_at : &row.best_gap_at};
    const SearchRow* const last = cells.empty() ? nullptr : cells.back().front().row;
    if (last == nullptr || last->cluster != row.cluster || last->kind != row.kind || last->gpus != row.gpus) cells.emplace_back();
    cells.back().push_back(curve);
  }
  std::vector<Plot> plots;
  if (result.times_ms.size() < 2) return plots;  // no axis
  for (const std::vector<Curve>& cell : cells) plots.push_back(plot_of(result.times_ms, cell));
  return plots;
}

}  // namespace berth::bench
