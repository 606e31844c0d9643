// How long completed jobs took and waited.
import { type Data, doubles, fullLabel } from "./data.ts";
import { timeText } from "./dom.ts";
import { Plot } from "./plot.ts";

export function addDistributions(data: Data): void {
  for (const which of ["jct", "wait"] as const) {
    const figure = document.getElementById(which);
    if (!figure) continue;
    const plot = new Plot(figure, {
      xText: timeText,
      yText: (part) => `${Number((100 * part).toFixed(1))} %`,
      yLabel: "completed jobs",
      logX: true,
      time: true,
      steps: true,
      yMost: 1,
      about: "cumulative distribution over logarithmic time",
    });
    plot.set(
      data.configurations
        .map((one, c) => {
          const all = doubles(one[which].at);
          const x: number[] = [];
          const y: number[] = [];
          // Of equal values the last rank counts.
          for (let k = 0; k < all.length; ++k) {
            if (k + 1 < all.length && all[k + 1] === all[k]) continue;
            x.push(all[k]);
            y.push((k + 1) / all.length);
          }
          return { label: fullLabel(data, c), colour: c, x, y };
        })
        .filter((line) => line.x.length > 0),
    );
  }
}
