#include "host/report/html/svg_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "host/io/json/json_text.hpp"
#include "host/report/html/html_text.hpp"

namespace berth::report {
namespace {

constexpr double kChartWidth = 720, kChartHeight = 400, kLeftMargin = 76, kRightMargin = 20, kTopMargin = 36, kBottomMargin = 52;
constexpr double kLegendStep = 18;
// Okabe and Ito: distinct also for colour-blind readers. Further lines are dashed.
constexpr std::array kLineColours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a5c00", "#555555"};
constexpr std::array kPartColours{"#009e73", "#d55e00", "#cc79a7", "#e69f00", "#f0e442",
                                  "#a03000", "#7a5c00", "#56b4e9", "#bbbbbb", "#555555"};
static_assert(kPartColours.size() == kGpuTimeParts.size());

std::string svg_of(double width, double height, const std::string& title, const std::string& body, bool inside) {
  const std::string ground = inside ? "" : fmt::format("<rect width=\"{:.0f}\" height=\"{:.0f}\" fill=\"#ffffff\"/>\n", width, height);
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" "
      "aria-label=\"{2}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"currentColor\">\n<title>{2}</title>\n{3}{4}</svg>\n",
      width, height, html_text(title), ground, body);
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, html_text(text));
}

std::string label_of(const ReportFacts& facts, std::size_t c) {
  const Configuration& one = facts.input.configurations[c];
  const std::string label = facts.input.scenarios.size() > 1 ? one.label + ", " + facts.input.scenarios[one.scenario].label : one.label;
  const std::string cut = io::cut_utf8(label, 60);
  return cut.size() < label.size() ? cut + "..." : cut;
}

// 1, 2 or 5 times a power of ten, at least `least`.
double nice_step(double least) {
  if (!(least > 0)) return 1;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

std::string tick_text(double value) {
  if (std::abs(value) >= 1e6) return fmt::format("{:g}M", value / 1e6);
  if (std::abs(value) >= 1e4) return fmt::format("{:g}k", value / 1e3);
  return fmt::format("{:g}", std::abs(value) < 1e-12 ? 0 : value);
}

struct Scale {
  double from = 0, to = 1, at_from = 0, at_to = 1;
  bool log = false;
  double of(double value) const {
    const double part =
        log ? (std::log10(std::max(value, from)) - std::log10(from)) / (std::log10(to) - std::log10(from)) : (value - from) / (to - from);
    return at_from + std::clamp(part, 0.0, 1.0) * (at_to - at_from);
  }
  std::vector<double> ticks() const {
    std::vector<double> all;
    if (log) {
      for (double value = std::pow(10, std::ceil(std::log10(from) - 1e-9)); value <= to * (1 + 1e-9); value *= 10) all.push_back(value);
      return all;
    }
    const double step = nice_step((to - from) / 6);
    for (double k = std::ceil(from / step - 1e-9); k * step <= to + step * 1e-9 && all.size() < 20; ++k) all.push_back(k * step);
    return all;
  }
};

Scale scale_of(double from, double to, double at_from, double at_to, bool log) {
  if (log) {
    from = from > 0 && std::isfinite(from) ? from : 1;
    to = std::max(to, from * 10);
  } else if (!(to > from)) {
    to = from + 1;
  }
  return {from, to, at_from, at_to, log};
}

std::string frame(const SvgAxes& axes, const Scale& x, const Scale& y) {
  std::string body = text_at(x.at_from, 22, "start", axes.title, " font-size=\"14\" font-weight=\"bold\"");
  for (const double value : x.ticks()) {
    body += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#dddddd\"/>\n", x.of(value), y.at_from,
                        y.at_to);
    body += text_at(x.of(value), y.at_from + 16, "middle", tick_text(value));
  }
  for (const double value : y.ticks()) {
    body += fmt::format("<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#dddddd\"/>\n", x.at_from, x.at_to,
                        y.of(value));
    body += text_at(x.at_from - 6, y.of(value) + 4, "end", tick_text(value));
  }
  body += text_at((x.at_from + x.at_to) / 2, y.at_from + 38, "middle", axes.x);
  return body + fmt::format("<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                            (y.at_from + y.at_to) / 2, html_text(axes.y));
}

}  // namespace

std::string line_chart_svg(const SvgAxes& axes, const std::vector<SvgLine>& lines) {
  double from = std::numeric_limits<double>::infinity(), to = -from, most = axes.most_y;
  for (const SvgLine& line : lines) {
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const auto& [x, y] = line.points[i];
      if (!axes.log_x || x > 0) from = std::min(from, x);
      to = std::max(to, x);
      if (axes.most_y <= 0) most = std::max(most, y + (line.halves.empty() ? 0 : line.halves[i]));
    }
  }
  if (!std::isfinite(from)) from = axes.log_x ? 1 : 0;
  if (!std::isfinite(to)) to = from;
  const Scale x = scale_of(from, to, kLeftMargin, kChartWidth - kRightMargin, axes.log_x);
  const Scale y = scale_of(0, most, kChartHeight - kBottomMargin, kTopMargin, false);
  std::string body = frame(axes, x, y);
  double legend = kChartHeight + 4;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    const SvgLine& line = lines[l];
    const char* colour = kLineColours[l % kLineColours.size()];
    const std::string dash =
        l < kLineColours.size() ? "" : fmt::format(" stroke-dasharray=\"{}\"", l < 2 * kLineColours.size() ? "6 3" : "2 2");
    std::string path;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const double px = x.of(line.points[i].first), py = y.of(line.points[i].second);
      if (i == 0) {
        path = fmt::format("M{:.1f} {:.1f}", px, axes.steps ? y.at_from : py);
        if (axes.steps) path += fmt::format("V{:.1f}", py);
      } else {
        path += axes.steps ? fmt::format("H{:.1f}V{:.1f}", px, py) : fmt::format("L{:.1f} {:.1f}", px, py);
      }
      if (line.halves.empty()) continue;
      const double low = y.of(line.points[i].second - line.halves[i]), high = y.of(line.points[i].second + line.halves[i]);
      body += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {1:.1f}h8M{3:.1f} {2:.1f}h8\" stroke=\"{4}\" fill=\"none\"/>\n", px,
                          low, high, px - 4, colour);
    }
    body += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{}/>\n", path, colour, dash);
    body += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"{3}\" stroke-width=\"3\"{4}/>\n",
                        kLeftMargin, legend - 4, kLeftMargin + 24, colour, dash);
    body += text_at(kLeftMargin + 32, legend, "start", line.label);
    legend += kLegendStep;
  }
  return svg_of(kChartWidth, legend, axes.title, body, false);
}

std::string metric_svg(const ReportFacts& facts, std::size_t metric) {
  const Metric& one = kMetrics[metric];
  const double unit = shown_scale(one.unit);
  double most = 0;
  for (const std::vector<Compared>& row : facts.comparison)
    most = std::max(most, (static_cast<double>(row[metric].value.mean) + row[metric].value.half.value_or(0)) / unit);
  constexpr double kLabels = 300, kRow = 24;
  const double bottom = kTopMargin + kRow * static_cast<double>(facts.comparison.size()) + 10;
  const Scale x = scale_of(0, most, kLabels, kChartWidth - 30, false);
  const std::string title = fmt::format("{}{}{}", one.label, *unit_name(one.unit) == '\0' ? "" : ", ", unit_name(one.unit));
  std::string body = text_at(10, 22, "start", title, " font-size=\"14\" font-weight=\"bold\"");
  for (const double value : x.ticks()) {
    body += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#dddddd\"/>\n", x.of(value), kTopMargin,
                        bottom);
    body += text_at(x.of(value), bottom + 16, "middle", tick_text(value));
  }
  for (std::size_t c = 0; c < facts.comparison.size(); ++c) {
    const MeanEstimate& value = facts.comparison[c][metric].value;
    const double y = kTopMargin + kRow * (static_cast<double>(c) + 0.5), mean = static_cast<double>(value.mean) / unit;
    body += text_at(kLabels - 10, y + 4, "end", label_of(facts, c));
    if (value.half) {
      body += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                          x.of(mean - *value.half / unit), y, x.of(mean + *value.half / unit), y, kLineColours[0]);
    }
    body += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{}</title></circle>\n", x.of(mean), y,
                        kLineColours[0], shown(one.unit, static_cast<double>(value.mean)));
  }
  return svg_of(kChartWidth, bottom + 28, title, body, false);
}

std::string gpu_time_svg(const ReportFacts& facts, bool inside) {
  constexpr double kLabels = 220, kRow = 28;
  double most = 0;
  std::array<bool, kGpuTimeParts.size()> used{};
  for (const ConfigurationFacts& one : facts.configurations) {
    double all = 0;
    for (std::size_t p = 0; p < one.gpu_time.size(); ++p) {
      all += static_cast<double>(one.gpu_time[p]);
      used[p] = used[p] || one.gpu_time[p] > 0;
    }
    most = std::max(most, all);
  }
  const Scale x = scale_of(0, most, kLabels, kChartWidth - 20, false);
  std::string body = text_at(10, 22, "start", "GPU-hours by part", " font-size=\"14\" font-weight=\"bold\"");
  for (std::size_t c = 0; c < facts.configurations.size(); ++c) {
    const double y = kTopMargin + kRow * static_cast<double>(c);
    body += text_at(kLabels - 10, y + 17, "end", io::cut_utf8(label_of(facts, c), 34));
    double before = 0;
    for (std::size_t p = 0; p < kGpuTimeParts.size(); ++p) {
      const auto us = static_cast<double>(facts.configurations[c].gpu_time[p]);
      if (us <= 0) continue;
      const double left = x.of(before), width = x.of(before + us) - left;
      before += us;
      body += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.0f}\" fill=\"{}\"><title>{}: {:.1f} GPU-hours</title></rect>\n",
          left, y, width, kRow - 6, kPartColours[p], kGpuTimeParts[p].label, us / 3.6e9);
    }
  }
  double legend = kTopMargin + kRow * static_cast<double>(facts.configurations.size()) + 14, at = 10;
  for (std::size_t p = 0; p < kGpuTimeParts.size(); ++p) {
    if (!used[p]) continue;
    const double width = 30 + 7.5 * static_cast<double>(std::string_view(kGpuTimeParts[p].label).size());
    if (at + width > kChartWidth) {
      at = 10;
      legend += kLegendStep;
    }
    body += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", at, legend - 10, kPartColours[p]);
    body += text_at(at + 18, legend, "start", kGpuTimeParts[p].label);
    at += width;
  }
  return svg_of(kChartWidth, legend + 12, "GPU-hours by part", body, inside);
}

}  // namespace berth::report
