// Line charts: drawn by uPlot, zoomed by mouse, finger or keys.
import uPlot from "uplot";
import { button, element, niceTime } from "./dom.ts";
import { colour, lineColour, lineDash, onTheme } from "./theme.ts";

export interface Line {
  label: string;
  colour: number;
  x: ArrayLike<number>;
  y: ArrayLike<number>;
}

export interface PlotOptions {
  xText: (value: number) => string;
  yText: (value: number) => string;
  yLabel: string;
  /** Whether x is a time in seconds. */
  time?: boolean;
  /** Equal ratios are equal distances; values of 0 are drawn at the left. */
  logX?: boolean;
  /** A value holds until the next. */
  steps?: boolean;
  points?: boolean;
  yMost?: number;
  about: string;
  /** What a line comes to, for those who do not see it. */
  summary: (line: Line) => string;
}

const kHeight = 300;

/** All x of the lines, ascending, and each line at those; undefined: nothing there. */
function joined(lines: Line[]): uPlot.AlignedData {
  const tables = lines.map((line) => [Float64Array.from(line.x), Array.from(line.y)] as unknown as uPlot.AlignedData);
  if (tables.length === 0) return [[]];
  return uPlot.join(tables, lines.map(() => [0, 2]));
}

export class Plot {
  private plot: uPlot | null = null;
  private lines: Line[] = [];
  private hidden = new Set<string>();
  private readonly box: HTMLElement;
  private readonly view: HTMLElement;
  private from = 0;
  private to = 1;

  constructor(
    private readonly figure: HTMLElement,
    private readonly options: PlotOptions,
  ) {
    this.box = figure.querySelector<HTMLElement>(".plot")!;
    const title = figure.querySelector("figcaption")!.firstChild!.textContent ?? "";
    this.view = element("div", {
      class: "plot-view",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "chart",
      "aria-label": `${title}: ${options.about}. Keys: plus and minus zoom, arrows move, 0 shows all.`,
    });
    const tools = element("p", { class: "tools" });
    tools.append(
      button("+", `Zoom in: ${title}`, () => this.zoom(0.5)),
      button("\u2212", `Zoom out: ${title}`, () => this.zoom(2)),
      button("All", `Show all: ${title}`, () => this.show(this.least(), this.most())),
    );
    this.box.append(tools, this.view);
    this.view.addEventListener("keydown", (event) => this.key(event));
    onTheme(() => this.draw());
    new ResizeObserver(() => {
      const width = this.width();
      if (this.plot && Math.abs(this.plot.width - width) > 1) this.plot.setSize({ width, height: kHeight });
    }).observe(this.view);
  }

  set(lines: Line[]): void {
    this.lines = lines;
    this.from = this.least();
    this.to = this.most();
    this.draw();
    const parts = lines.slice(0, 12).map((line) => `${line.label}: ${this.options.summary(line)}`);
    this.view.setAttribute("aria-description", `${lines.length} lines. ${parts.join("; ")}`);
  }

  private width(): number {
    return Math.max(200, Math.floor(this.view.clientWidth));
  }

  private bound(pick: (line: Line) => number, better: (a: number, b: number) => number, none: number): number {
    const all = this.lines.filter((line) => line.x.length > 0).map(pick);
    return all.length ? all.reduce((a, b) => better(a, b)) : none;
  }

  private least(): number {
    const first = this.bound(
      (line) => (this.options.logX ? (Array.prototype.find.call(line.x, (x: number) => x > 0) as number | undefined) ?? 1 : line.x[0]),
      Math.min,
      0,
    );
    return this.options.logX ? first / 1.1 : first;
  }

  private most(): number {
    const last = this.bound((line) => line.x[line.x.length - 1], Math.max, 1);
    const least = this.least();
    return last > least ? last : this.options.logX ? least * 10 : least + 1;
  }

  private show(from: number, to: number): void {
    const least = this.least();
    const most = this.most();
    if (!(to > from)) return;
    this.from = Math.max(least, Math.min(from, most));
    this.to = Math.min(most, Math.max(to, least));
    if (!(this.to > this.from)) [this.from, this.to] = [least, most];
    this.plot?.setScale("x", { min: this.from, max: this.to });
    this.view.dataset.from = String(this.from);
    this.view.dataset.to = String(this.to);
  }

  // In what is drawn at equal distances.
  private inner = (value: number) => (this.options.logX ? Math.log(value) : value);
  private outer = (value: number) => (this.options.logX ? Math.exp(value) : value);

  private zoom(factor: number, at = 0.5): void {
    const a = this.inner(this.from);
    const b = this.inner(this.to);
    const still = a + (b - a) * at;
    this.show(this.outer(still - (still - a) * factor), this.outer(still + (b - still) * factor));
  }

  private move(part: number): void {
    const a = this.inner(this.from);
    const b = this.inner(this.to);
    let by = (b - a) * part;
    by = Math.max(this.inner(this.least()) - a, Math.min(this.inner(this.most()) - b, by));
    this.show(this.outer(a + by), this.outer(b + by));
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Record<string, () => void> = {
      "+": () => this.zoom(0.5),
      "=": () => this.zoom(0.5),
      "-": () => this.zoom(2),
      ArrowLeft: () => this.move(-0.2),
      ArrowRight: () => this.move(0.2),
      "0": () => this.show(this.least(), this.most()),
      Home: () => this.show(this.least(), this.most()),
    };
    const act = acts[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  }

  // Whole units of time, as many as have room.
  private timeMarks(): number[] {
    const room = Math.max(2, Math.floor((this.width() - 70) / 90));
    const marks: number[] = [];
    if (this.options.logX) {
      const all = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 60, 600, 3600, 36000, 86400, 864000, 8640000, 86400000];
      marks.push(...all.filter((mark) => mark >= this.from && mark <= this.to));
      if (marks.length > 1) return marks.filter((_, i) => i % Math.ceil(marks.length / room) === 0);
      marks.length = 0;
    }
    const step = niceTime((this.to - this.from) / room);
    for (let mark = Math.ceil(this.from / step) * step; mark <= this.to; mark += step) marks.push(mark);
    return marks;
  }

  private draw(): void {
    this.plot?.destroy();
    this.plot = null;
    if (this.lines.length === 0) return;
    const { options } = this;
    const text = colour("text");
    const grid = colour("grid");
    const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "12px system-ui, sans-serif" };
    const lines = options.logX ? this.lines.map((line) => ({ ...line, x: raised(line.x, this.least()) })) : this.lines;
    const paths = options.steps && uPlot.paths.stepped ? uPlot.paths.stepped({ align: 1 }) : undefined;
    this.plot = new uPlot(
      {
        width: this.width(),
        height: kHeight,
        scales: {
          x: { time: false, distr: options.logX ? 3 : 1, range: () => [this.from, this.to] },
          y: { range: (_plot, _least, most) => [0, options.yMost ?? (most > 0 ? most * 1.05 : 1)] },
        },
        axes: [
          {
            ...axis,
            values: (_plot, ticks) => ticks.map((tick) => (tick === null ? "" : options.xText(tick))),
            space: 90,
            ...(options.time ? { splits: () => this.timeMarks(), filter: (_plot: uPlot, marks: number[]) => marks } : {}),
          },
          { ...axis, values: (_plot, ticks) => ticks.map((tick) => options.yText(tick)), label: options.yLabel, labelFont: axis.font, size: 64 },
        ],
        series: [
          { label: "at", value: (_plot, value) => (value === null || value === undefined ? "-" : options.xText(value)) },
          ...lines.map((line) => ({
            label: line.label,
            stroke: lineColour(line.colour),
            dash: lineDash(line.colour),
            width: 2,
            spanGaps: true,
            show: !this.hidden.has(line.label),
            points: { show: options.points === true, size: 7 },
            paths,
            value: (_plot: uPlot, value: number | null) => (value === null || value === undefined ? "-" : options.yText(value)),
          })),
        ],
        cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 7 } },
        legend: { live: true },
        hooks: {
          setSelect: [
            (plot) => {
              const { left, width } = plot.select;
              if (width > 4) this.show(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
              plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            },
          ],
          setSeries: [
            (_plot, index, series) => {
              if (index === null || series.show === undefined) return;
              const label = this.lines[index - 1]?.label;
              if (label !== undefined) series.show ? this.hidden.delete(label) : this.hidden.add(label);
            },
          ],
        },
      },
      joined(lines),
      this.view,
    );
    this.show(this.from, this.to);
    this.figure.dataset.drawn = "yes";
  }
}

function raised(x: ArrayLike<number>, least: number): Float64Array {
  const out = Float64Array.from(x);
  // Equal x would be one: the last value, which is the highest rank, stays.
  for (let i = 0; i < out.length; ++i) out[i] = Math.max(out[i], least);
  return out;
}
