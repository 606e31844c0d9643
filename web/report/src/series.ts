// Levels over time of one run of each configuration.
import { type Data, type Series, doubles, floats, fullLabel } from "./data.ts";
import { choice, numberText, timeText } from "./dom.ts";
import { type Line, Plot } from "./plot.ts";

const kCharts = [
  { id: "allocation", column: "gpus_allocated", label: "GPUs" },
  { id: "queue", column: "waiting", label: "jobs" },
  { id: "fragmentation", column: "gpus_fragmented", label: "GPUs" },
] as const;

function lineOf(data: Data, series: Series, column: (typeof kCharts)[number]["column"]): Line {
  const from = doubles(series.from);
  const values = floats(series[column]);
  const x = new Float64Array(from.length + 1);
  const y = new Float64Array(from.length + 1);
  x.set(from);
  y.set(values);
  x[from.length] = Math.max(series.until, from.length ? from[from.length - 1] : 0);
  y[from.length] = values.length ? values[values.length - 1] : 0;
  return { label: fullLabel(data, series.configuration), colour: series.configuration, x, y };
}

export function addSeries(data: Data): void {
  const plots = kCharts.map((chart) => {
    const figure = document.getElementById(chart.id)!;
    return new Plot(figure, {
      xText: timeText,
      yText: numberText,
      yLabel: chart.label,
      time: true,
      steps: true,
      about: "over the time of the trace",
    });
  });
  const seeds = [...new Set(data.series.map((series) => series.seed))].sort((a, b) => a - b);
  const show = (seed: number) => {
    const chosen = data.series.filter((series) => series.seed === seed && series.from.length > 0);
    kCharts.forEach((chart, i) => plots[i].set(chosen.map((series) => lineOf(data, series, chart.column))));
  };
  if (seeds.length > 1) {
    document
      .getElementById("series-controls")!
      .append(choice("Seed", seeds.map(String), 0, (index) => show(seeds[index])));
  }
  if (seeds.length > 0) show(seeds[0]);
}
