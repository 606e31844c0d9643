// How long completed jobs took and waited.
import { type Data, colourIndex, doubles, drawnConfigurations } from "./data.ts";
import { choice, timeText } from "./dom.ts";
import { type Line, Plot } from "./plot.ts";

function lineOf(data: Data, c: number, which: "jct" | "wait" | "late"): Line {
  const all = doubles(data.configurations[c][which]?.at ?? "");
  const x: number[] = [];
  const y: number[] = [];
  // Of equal values the last rank counts.
  for (let k = 0; k < all.length; ++k) {
    if (k + 1 < all.length && all[k + 1] === all[k]) continue;
    x.push(all[k]);
    y.push((k + 1) / all.length);
  }
  return { label: data.configurations[c].label, colour: colourIndex(data, c), x, y };
}

export function addDistributions(data: Data): void {
  const plots = (["jct", "wait"] as const).flatMap((which) => {
    const figure = document.getElementById(which);
    if (!figure) return [];
    const plot = new Plot(figure, {
      xText: timeText,
      yText: (part) => `${Number((100 * part).toFixed(1))} %`,
      yLabel: "completed jobs",
      logX: true,
      time: true,
      steps: true,
      yMost: 1,
      about: "cumulative distribution over logarithmic time",
      summary: (line) => `half within ${timeText(line.x[Array.prototype.findIndex.call(line.y, (part: number) => part >= 0.5)])}`,
    });
    return [{ which, plot }];
  });
  const show = (scenario: number) => {
    for (const { which, plot } of plots)
      plot.set(
        drawnConfigurations(data, scenario)
          .map((c) => lineOf(data, c, which))
          .filter((line) => line.x.length > 0),
      );
  };
  if (data.scenarios.length > 1) document.getElementById("distribution-controls")?.append(choice("Scenario", data.scenarios, 0, show));
  show(0);
}

/** A lateness: "3 min late", "3 min early". */
function lateText(seconds: number): string {
  return seconds === 0 ? "0" : `${timeText(Math.abs(seconds))} ${seconds > 0 ? "late" : "early"}`;
}

export function addLateness(data: Data): void {
  const figure = document.getElementById("late");
  if (!figure) return;
  const plot = new Plot(figure, {
    xText: lateText,
    yText: (part) => `${Number((100 * part).toFixed(1))} %`,
    yLabel: "completed jobs with deadlines",
    time: true,
    steps: true,
    yMost: 1,
    about: "cumulative distribution over the time after the deadline",
    summary: (line) => {
      const late = Array.prototype.findIndex.call(line.x, (seconds: number) => seconds > 0);
      const met = late < 0 ? 1 : late === 0 ? 0 : line.y[late - 1];
      return `${Number((100 * met).toFixed(1))} % in time`;
    },
  });
  const show = (scenario: number) =>
    plot.set(
      drawnConfigurations(data, scenario)
        .map((c) => lineOf(data, c, "late"))
        .filter((line) => line.x.length > 0),
    );
  if (data.scenarios.length > 1) document.getElementById("deadline-controls")?.append(choice("Scenario", data.scenarios, 0, show));
  show(0);
}
