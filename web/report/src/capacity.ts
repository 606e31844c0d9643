// A figure by the number of GPUs: how many are enough.
import type { Data } from "./data.ts";
import { choice, element, numberText } from "./dom.ts";
import { type Line, Plot } from "./plot.ts";

/** Millionths in the unit that is shown: seconds, per cent, counts. */
export function shownValue(unit: string, value: number): number {
  return value / (unit === "%" ? 1e4 : 1e6);
}

export function addCapacity(data: Data): void {
  const figure = document.getElementById("capacity")!;
  const plot = new Plot(figure, {
    xText: (gpus) => `${numberText(gpus)} GPUs`,
    yText: numberText,
    yLabel: "figure",
    points: true,
    about: "a line for each policy over the number of GPUs",
    summary: (line) => Array.from(line.x, (gpus, i) => `${numberText(line.y[i])} with ${numberText(gpus)} GPUs`).join(", "),
  });
  const table = element("table", { id: "capacity-table" });
  figure.after(element("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Figures by GPUs" }, table));
  const show = (m: number) => {
    const { unit, label } = data.metrics[m];
    // One line for what differs in more than the cluster.
    const groups = new Map<string, Map<number, number>>();
    data.configurations.forEach((one, c) => {
      const others = Object.entries(one.settings)
        .filter(([name]) => name !== "gpus" && name !== "cluster" && !name.startsWith("param "))
        .map(([name, value]) => `, ${name} ${value || "none"}`)
        .join("");
      const key = one.label + others;
      if (!groups.has(key)) groups.set(key, new Map());
      groups.get(key)!.set(one.gpus, c);
    });
    const lines: Line[] = [];
    const sizes = [...new Set(data.configurations.map((one) => one.gpus))].sort((a, b) => a - b);
    const body = element("tbody");
    for (const [key, group] of groups) {
      const gpus = [...group.keys()].sort((a, b) => a - b);
      lines.push({
        label: key,
        colour: lines.length,
        x: gpus,
        y: gpus.map((n) => shownValue(unit, data.configurations[group.get(n)!].means[m])),
      });
      const row = element("tr", {}, element("th", { scope: "row" }, key));
      for (const n of sizes) {
        const c = group.get(n);
        row.append(element("td", {}, c === undefined ? "-" : numberText(shownValue(unit, data.configurations[c].means[m]))));
      }
      body.append(row);
    }
    plot.set(lines);
    const head = element("tr", {}, element("th", { scope: "col" }, "Policy"));
    for (const n of sizes) head.append(element("th", { scope: "col" }, `${n} GPUs`));
    table.replaceChildren(element("caption", {}, `${label}${unit ? `, ${unit}` : ""}`), element("thead", {}, head), body);
  };
  document.getElementById("capacity-controls")!.append(
    choice(
      "Figure",
      data.metrics.map((metric) => metric.label),
      0,
      show,
    ),
  );
  show(0);
}
