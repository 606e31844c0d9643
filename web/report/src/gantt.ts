// Bars over time on a canvas: what is in view is drawn, and what would share a pixel is drawn once.
import { button, element, niceTime, timeText } from "./dom.ts";
import { colour, onTheme } from "./theme.ts";

/** Bars by their top, then by start. Tops and heights are in units of rows. */
export interface BarTable {
  length: number;
  top: Float64Array;
  height: Float64Array;
  from: Float64Array;
  until: Float64Array;
  job: Uint32Array;
  /** Of kBarColours. */
  colour: Uint8Array;
  /** The highest bar. */
  most: number;
  units: number;
  rows: { top: number; height: number; label: string }[];
}

export const kBarColours = 9; // eight, and one for waiting
const kCanvasHeight = 440;
const kLabelWidth = 110;
const kAxisHeight = 24;

export class Gantt {
  private readonly canvas: HTMLCanvasElement;
  private bars: BarTable | null = null;
  private left = 0;
  private right = 1;
  private top = 0;
  private bottom = 1;
  private first = 0;
  private last = 1;
  private chosen = -1;
  private queued = false;
  private readonly pointers = new Map<number, { x: number; y: number }>();
  private byStart: Uint32Array | null = null;

  constructor(
    place: HTMLElement,
    label: string,
    private readonly describe: (bar: number) => string,
    private readonly say: (text: string) => void,
  ) {
    this.canvas = element("canvas", {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "Gantt chart",
      "aria-label": `${label}. Keys: plus and minus zoom time, brackets zoom rows, arrows move, 0 shows all, n and p go to the next and previous bar.`,
    });
    const tools = element("p", { class: "tools" });
    tools.append(
      button("+", "Zoom in: time", () => this.zoomTime(0.5)),
      button("\u2212", "Zoom out: time", () => this.zoomTime(2)),
      button("Rows +", "Zoom in: rows", () => this.zoomRows(0.5)),
      button("Rows \u2212", "Zoom out: rows", () => this.zoomRows(2)),
      button("All", "Show all bars", () => this.showAll()),
    );
    place.append(tools, this.canvas);
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.press(event));
    this.canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel", "pointerleave"] as const)
      this.canvas.addEventListener(name, (event) => this.pointers.delete(event.pointerId));
    this.canvas.addEventListener("dblclick", (event) => this.zoomTime(0.25, this.partAt(event.offsetX)));
    new ResizeObserver(() => this.draw()).observe(place);
    onTheme(() => this.draw());
  }

  set(bars: BarTable): void {
    this.bars = bars;
    this.byStart = null;
    this.chosen = -1;
    let first = Infinity;
    let last = -Infinity;
    for (let i = 0; i < bars.length; ++i) {
      if (bars.from[i] < first) first = bars.from[i];
      if (bars.until[i] > last) last = bars.until[i];
    }
    this.first = Number.isFinite(first) ? first : 0;
    this.last = last > this.first ? last : this.first + 1;
    this.showAll();
  }

  showAll(): void {
    this.setView(this.first, this.last, 0, Math.max(1, this.bars?.units ?? 1));
  }

  /** Chooses a bar, and moves so that it is seen. */
  choose(bar: number): void {
    if (!this.bars || bar < 0 || bar >= this.bars.length) return;
    this.chosen = bar;
    const { from, until, top, height } = this.bars;
    const middle = (from[bar] + until[bar]) / 2;
    const span = Math.min(this.right - this.left, Math.max((until[bar] - from[bar]) * 8, (this.last - this.first) / 1e6));
    const rows = Math.min(this.bottom - this.top, Math.max(height[bar] * 12, 16));
    if (from[bar] < this.left || until[bar] > this.right || until[bar] - from[bar] < (this.right - this.left) / 200) {
      this.left = middle - span / 2;
      this.right = middle + span / 2;
    }
    if (top[bar] < this.top || top[bar] + height[bar] > this.bottom || height[bar] * this.rowPixels() < 3) {
      this.top = top[bar] + height[bar] / 2 - rows / 2;
      this.bottom = this.top + rows;
    }
    this.setView(this.left, this.right, this.top, this.bottom);
    this.say(this.describe(bar));
  }

  private setView(left: number, right: number, top: number, bottom: number): void {
    const units = Math.max(1, this.bars?.units ?? 1);
    const span = Math.min(Math.max(right - left, (this.last - this.first) * 1e-9 || 1e-6), this.last - this.first);
    const rows = Math.min(Math.max(bottom - top, Math.min(2, units)), units);
    this.left = Math.min(Math.max(left, this.first), this.last - span);
    this.right = this.left + span;
    this.top = Math.min(Math.max(top, 0), units - rows);
    this.bottom = this.top + rows;
    this.canvas.dataset.from = String(this.left);
    this.canvas.dataset.to = String(this.right);
    this.canvas.dataset.top = String(this.top);
    this.canvas.dataset.bottom = String(this.bottom);
    this.draw();
  }

  private zoomTime(factor: number, part = 0.5): void {
    const span = this.right - this.left;
    const still = this.left + span * part;
    this.setView(still - span * factor * part, still + span * factor * (1 - part), this.top, this.bottom);
  }

  private zoomRows(factor: number, part = 0.5): void {
    const rows = this.bottom - this.top;
    const still = this.top + rows * part;
    this.setView(this.left, this.right, still - rows * factor * part, still + rows * factor * (1 - part));
  }

  private move(time: number, rows: number): void {
    const byTime = (this.right - this.left) * time;
    const byRows = (this.bottom - this.top) * rows;
    this.setView(this.left + byTime, this.right + byTime, this.top + byRows, this.bottom + byRows);
  }

  private step(by: number): void {
    if (!this.bars || this.bars.length === 0) return;
    if (!this.byStart) {
      const { from } = this.bars;
      this.byStart = Uint32Array.from({ length: this.bars.length }, (_, i) => i).sort((a, b) => from[a] - from[b] || a - b);
    }
    const at = this.chosen < 0 ? (by > 0 ? -1 : 0) : this.byStart.indexOf(this.chosen);
    this.choose(this.byStart[(at + by + this.bars.length) % this.bars.length]);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Record<string, () => void> = {
      "+": () => this.zoomTime(0.5),
      "=": () => this.zoomTime(0.5),
      "-": () => this.zoomTime(2),
      "]": () => this.zoomRows(0.5),
      "[": () => this.zoomRows(2),
      ArrowLeft: () => this.move(-0.2, 0),
      ArrowRight: () => this.move(0.2, 0),
      ArrowUp: () => this.move(0, -0.2),
      ArrowDown: () => this.move(0, 0.2),
      PageUp: () => this.move(0, -1),
      PageDown: () => this.move(0, 1),
      "0": () => this.showAll(),
      Home: () => this.showAll(),
      n: () => this.step(1),
      p: () => this.step(-1),
    };
    const act = acts[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  }

  // Without a key the page scrolls.
  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
    event.preventDefault();
    const factor = Math.exp(event.deltaY / 300);
    if (event.shiftKey) this.move((event.deltaY || event.deltaX) / 1000, 0);
    else this.zoomTime(factor, this.partAt(event.offsetX));
  }

  private partAt(x: number): number {
    return Math.min(1, Math.max(0, (x - kLabelWidth) / Math.max(1, this.canvas.clientWidth - kLabelWidth)));
  }

  private rowPixels(): number {
    return (kCanvasHeight - kAxisHeight) / (this.bottom - this.top);
  }

  private press(event: PointerEvent): void {
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    try {
      this.canvas.setPointerCapture(event.pointerId);
    } catch {
      // a pointer that has gone
    }
    const bar = this.barAt(event.offsetX, event.offsetY);
    if (bar >= 0) {
      this.chosen = bar;
      this.say(this.describe(bar));
      this.draw();
    }
  }

  private drag(event: PointerEvent): void {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      const bar = this.barAt(event.offsetX, event.offsetY);
      this.canvas.title = bar >= 0 ? this.describe(bar) : "";
      return;
    }
    const others = [...this.pointers.entries()].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    const width = Math.max(1, this.canvas.clientWidth - kLabelWidth);
    if (others.length === 1) {
      // Two fingers: what is below them stays below them.
      const other = others[0];
      const was = Math.max(12, Math.abs(before.x - other.x));
      const now = Math.max(12, Math.abs(event.offsetX - other.x));
      this.zoomTime(was / now, this.partAt(other.x));
    } else {
      this.move(-(event.offsetX - before.x) / width, event.pointerType === "touch" ? 0 : -(event.offsetY - before.y) / (kCanvasHeight - kAxisHeight));
    }
    this.pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
  }

  // The first bar whose top is at least this.
  private lowerBound(top: number): number {
    const tops = this.bars!.top;
    let low = 0;
    let high = this.bars!.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (tops[middle] < top) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private barAt(x: number, y: number): number {
    if (!this.bars || x < kLabelWidth || y > kCanvasHeight - kAxisHeight) return -1;
    const { top, height, from, until, most } = this.bars;
    const time = this.left + (this.right - this.left) * this.partAt(x);
    const slack = ((this.right - this.left) / Math.max(1, this.canvas.clientWidth - kLabelWidth)) * 2;
    const row = this.top + y / this.rowPixels();
    let best = -1;
    for (let i = this.lowerBound(row - most); i < this.bars.length && top[i] <= row; ++i) {
      if (top[i] + height[i] < row || from[i] > time + slack || until[i] < time - slack) continue;
      if (best < 0 || (from[i] <= time && until[i] >= time)) best = i;
    }
    return best;
  }

  private draw(): void {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => {
      this.queued = false;
      this.paint();
    });
  }

  private paint(): void {
    const { bars, canvas } = this;
    if (!bars) return;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const width = Math.max(200, Math.floor(canvas.parentElement!.clientWidth));
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(kCanvasHeight * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(kCanvasHeight * ratio);
      canvas.style.width = `${width}px`;
      canvas.style.height = `${kCanvasHeight}px`;
    }
    const context = canvas.getContext("2d");
    if (!context) return;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const ground = colour("ground");
    const text = colour("text");
    const grid = colour("grid");
    context.fillStyle = ground;
    context.fillRect(0, 0, width, kCanvasHeight);
    const plotWidth = width - kLabelWidth;
    const plotHeight = kCanvasHeight - kAxisHeight;
    const xScale = plotWidth / (this.right - this.left);
    const yScale = plotHeight / (this.bottom - this.top);
    context.save();
    context.beginPath();
    context.rect(kLabelWidth, 0, plotWidth, plotHeight);
    context.clip();
    const begin = this.lowerBound(this.top - bars.most);
    const end = this.lowerBound(this.bottom);
    // By line of pixels, the last pixel that was painted by a bar that is no wider.
    const painted = new Int32Array(plotHeight + 1);
    const gap = yScale > 6 ? 1 : 0;
    for (let c = 0; c < kBarColours; ++c) {
      context.fillStyle = c === kBarColours - 1 ? colour("waiting") : colour(`line-${c}`);
      painted.fill(-1);
      for (let i = begin; i < end; ++i) {
        if (bars.colour[i] !== c || bars.until[i] < this.left || bars.from[i] > this.right) continue;
        const y = (bars.top[i] - this.top) * yScale;
        const high = bars.height[i] * yScale;
        if (y + high < 0) continue;
        const x = Math.max(kLabelWidth - 2, kLabelWidth + (bars.from[i] - this.left) * xScale);
        const x2 = Math.min(width + 2, kLabelWidth + (bars.until[i] - this.left) * xScale);
        const wide = x2 - x;
        if (wide < 1 && high < 1.5) {
          const line = Math.min(plotHeight, Math.max(0, y | 0));
          if (painted[line] === (x | 0)) continue;
          painted[line] = x | 0;
        }
        context.fillRect(x, y, Math.max(wide - (wide > 6 ? 0.7 : 0), 0.7), Math.max(high - gap, 0.7));
      }
    }
    if (this.chosen >= 0) {
      const i = this.chosen;
      context.strokeStyle = text;
      context.lineWidth = 2;
      const x = kLabelWidth + (bars.from[i] - this.left) * xScale;
      context.strokeRect(x - 1, (bars.top[i] - this.top) * yScale - 1, Math.max(3, (bars.until[i] - bars.from[i]) * xScale) + 2, Math.max(3, bars.height[i] * yScale) + 1);
    }
    context.restore();
    this.paintLabels(context, text, grid, width, plotHeight, xScale, yScale);
    canvas.dataset.painted = String(Number(canvas.dataset.painted ?? 0) + 1);
  }

  private paintLabels(
    context: CanvasRenderingContext2D,
    text: string,
    grid: string,
    width: number,
    plotHeight: number,
    xScale: number,
    yScale: number,
  ): void {
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = text;
    context.strokeStyle = grid;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    let free = -Infinity;
    const rows = this.bars!.rows;
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (rows[middle].top + rows[middle].height <= this.top) low = middle + 1;
      else high = middle;
    }
    for (let r = low; r < rows.length && rows[r].top < this.bottom; ++r) {
      const from = Math.max(0, (rows[r].top - this.top) * yScale);
      const to = Math.min(plotHeight, (rows[r].top + rows[r].height - this.top) * yScale);
      const y = (from + to) / 2;
      if (y - 7 < free) continue;
      free = y + 7;
      context.fillText(shortened(context, rows[r].label, kLabelWidth - 10), 2, Math.max(7, y));
      if (to - from > 12) {
        context.beginPath();
        context.moveTo(kLabelWidth, Math.round(to) + 0.5);
        context.lineTo(width, Math.round(to) + 0.5);
        context.stroke();
      }
    }
    const step = niceTime(((this.right - this.left) / Math.max(1, width - kLabelWidth)) * 110);
    for (let t = Math.ceil(this.left / step) * step; t <= this.right; t += step) {
      const x = Math.round(kLabelWidth + (t - this.left) * xScale) + 0.5;
      context.beginPath();
      context.moveTo(x, plotHeight);
      context.lineTo(x, plotHeight + 5);
      context.stroke();
      const label = timeText(Math.abs(t) < step / 1e6 ? 0 : t);
      const wide = context.measureText(label).width;
      context.fillText(label, Math.min(Math.max(x - wide / 2, kLabelWidth - 20), width - wide - 2), plotHeight + 15);
    }
  }
}

function shortened(context: CanvasRenderingContext2D, text: string, most: number): string {
  if (text.length > 200) text = text.slice(0, 200);
  if (context.measureText(text).width <= most) return text;
  let end = text.length;
  while (end > 1 && context.measureText(`${text.slice(0, end)}\u2026`).width > most) end = Math.floor(end * 0.9);
  return `${text.slice(0, end)}\u2026`;
}
