// Levels over time of one run of each configuration.
import { type Data, type Series, colourIndex, doubles, drawnConfigurations, floats } from "./data.ts";
import { choice, element, numberText, timeText } from "./dom.ts";
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
  return { label: data.configurations[series.configuration].label, colour: colourIndex(data, series.configuration), x, y };
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
      summary: (line) => `at most ${numberText(Array.prototype.reduce.call(line.y, (a, b) => Math.max(a as number, b as number), 0) as number)} ${chart.label}`,
    });
  });
  let scenario = 0;
  let seeds: number[] = [];
  const place = element("span");
  const show = (seed: number) => {
    const drawn = drawnConfigurations(data, scenario);
    const chosen = data.series.filter((series) => series.seed === seed && series.from.length > 0 && drawn.includes(series.configuration));
    kCharts.forEach((chart, i) => plots[i].set(chosen.map((series) => lineOf(data, series, chart.column))));
  };
  const offer = (chosen: number) => {
    scenario = chosen;
    const drawn = drawnConfigurations(data, scenario);
    const all = data.series.filter((series) => drawn.includes(series.configuration)).map((series) => series.seed);
    seeds = [...new Set(all)].sort((a, b) => a - b);
    place.replaceChildren(...(seeds.length > 1 ? [choice("Seed", seeds.map(String), 0, (index) => show(seeds[index]))] : []));
    if (seeds.length > 0) show(seeds[0]);
  };
  const controls = document.getElementById("series-controls")!;
  if (data.scenarios.length > 1) controls.append(choice("Scenario", data.scenarios, 0, offer));
  controls.append(place);
  offer(0);
}
