// Nodes and jobs over time: which GPUs each job had, or when each job waited and ran.
import { type Bars, type Data, bytes, doubles, fullLabel, words } from "./data.ts";
import { button, choice, element, timeText } from "./dom.ts";
import { type BarTable, Gantt, kBarColours } from "./gantt.ts";

const kOutcomes = ["completed", "rejected", "unfinished", "killed"];
const kWaiting = kBarColours - 1;

class Jobs {
  readonly ids: string[];
  readonly gpus: Uint32Array;
  readonly submit: Float64Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly outcome: Uint8Array;

  constructor(readonly from: Bars) {
    this.ids = from.jobs.split("\n");
    this.gpus = words(from.gpus);
    this.submit = doubles(from.submit);
    this.start = doubles(from.start);
    this.end = doubles(from.end);
    this.outcome = bytes(from.outcome);
  }

  get length(): number {
    return this.submit.length;
  }

  about(job: number): string {
    const parts = [`job ${this.ids[job]}`, `${this.gpus[job]} GPUs`, `submitted at ${timeText(this.submit[job])}`];
    if (this.start[job] >= 0) parts.push(`waited ${timeText(this.start[job] - this.submit[job])} for its first start`);
    if (this.end[job] >= 0) parts.push(`${kOutcomes[this.outcome[job]]} at ${timeText(this.end[job])}`);
    else parts.push(kOutcomes[this.outcome[job]]);
    return parts.join(", ");
  }
}

function table(length: number): BarTable {
  return {
    length,
    top: new Float64Array(length),
    height: new Float64Array(length),
    from: new Float64Array(length),
    until: new Float64Array(length),
    job: new Uint32Array(length),
    colour: new Uint8Array(length),
    most: 1,
    units: 1,
    rows: [],
  };
}

// Colours of neighbours differ, whatever the order of jobs.
const colourOf = (job: number) => (Math.imul(job, 2654435761) >>> 16) % (kBarColours - 1);

/** A row for each node, a line in it for each of its GPUs. */
function nodeBars(data: Bars): BarTable {
  const nodes = data.nodes ?? [];
  const job = words(data.stay_job);
  const node = words(data.stay_node);
  const low = words(data.stay_low);
  const high = words(data.stay_high);
  const from = doubles(data.stay_from);
  const until = doubles(data.stay_until);
  const tops: number[] = [];
  let units = 0;
  for (const [, gpus] of nodes) {
    tops.push(units);
    units += Math.max(1, gpus);
  }
  // GPUs next to each other are one bar.
  const pieces: { top: number; height: number; stay: number }[] = [];
  for (let s = 0; s < job.length; ++s) {
    for (let g = 0; g < 64; ) {
      const has = (i: number) => i < 64 && ((i < 32 ? low[s] >>> i : high[s] >>> (i - 32)) & 1) === 1;
      if (!has(g)) {
        ++g;
        continue;
      }
      let end = g + 1;
      while (has(end)) ++end;
      pieces.push({ top: tops[node[s]] + g, height: end - g, stay: s });
      g = end;
    }
  }
  pieces.sort((a, b) => a.top - b.top || from[a.stay] - from[b.stay]);
  const bars = table(pieces.length);
  pieces.forEach((piece, i) => {
    bars.top[i] = piece.top;
    bars.height[i] = piece.height;
    bars.from[i] = from[piece.stay];
    bars.until[i] = until[piece.stay];
    bars.job[i] = job[piece.stay];
    bars.colour[i] = colourOf(job[piece.stay]);
    if (piece.height > bars.most) bars.most = piece.height;
  });
  bars.units = Math.max(1, units);
  bars.rows = nodes.map(([label, gpus], n) => ({ top: tops[n], height: Math.max(1, gpus), label }));
  return bars;
}

/** A row for each job, in the order of submission: when it waited for its first start, and from then to its end. */
function jobBars(jobs: Jobs): BarTable {
  const order = Uint32Array.from({ length: jobs.length }, (_, i) => i).sort((a, b) => jobs.submit[a] - jobs.submit[b] || a - b);
  let last = 0;
  for (let i = 0; i < jobs.length; ++i) last = Math.max(last, jobs.end[i], jobs.submit[i], jobs.start[i]);
  const bars = table(2 * jobs.length);
  let n = 0;
  const add = (row: number, job: number, from: number, until: number, shade: number) => {
    if (!(until > from)) return;
    bars.top[n] = row;
    bars.height[n] = 1;
    bars.from[n] = from;
    bars.until[n] = until;
    bars.job[n] = job;
    bars.colour[n] = shade;
    ++n;
  };
  order.forEach((job, row) => {
    const end = jobs.end[job] >= 0 ? jobs.end[job] : last;
    const start = jobs.start[job] >= 0 ? jobs.start[job] : end;
    add(row, job, jobs.submit[job], start, kWaiting);
    add(row, job, start, end, colourOf(job));
  });
  bars.length = n;
  bars.units = Math.max(1, jobs.length);
  bars.rows = [];
  order.forEach((job, row) => bars.rows.push({ top: row, height: 1, label: jobs.ids[job] }));
  return bars;
}

export function addBars(data: Data): void {
  if (data.bars.length === 0) return;
  const place = document.getElementById("gantt");
  const controls = document.getElementById("gantt-controls");
  const status = document.getElementById("gantt-status");
  if (!place || !controls || !status) return;
  let jobs = new Jobs(data.bars[0]);
  let bars: BarTable = table(0);
  let byNode = true;
  const say = (text: string) => {
    status.textContent = text;
  };
  const gantt = new Gantt(
    place,
    "Nodes and jobs over time",
    (bar) => `${jobs.about(bars.job[bar])}; this bar: ${bars.colour[bar] === kWaiting ? "waits" : "has GPUs"} from ${timeText(bars.from[bar])} to ${timeText(bars.until[bar])}`,
    say,
  );
  const modes = element("span");
  const show = () => {
    const hasStays = jobs.from.stay_job.length > 0;
    modes.replaceChildren();
    if (hasStays) modes.append(choice("Rows", ["nodes", "jobs"], byNode ? 0 : 1, (mode) => ((byNode = mode === 0), show())));
    bars = hasStays && byNode ? nodeBars(jobs.from) : jobBars(jobs);
    gantt.set(bars);
    say(`${bars.length.toLocaleString("en")} bars of ${jobs.length.toLocaleString("en")} jobs in ${bars.rows.length.toLocaleString("en")} rows`);
  };
  controls.append(
    choice(
      "Run",
      data.bars.map((one) => `${one.run}: ${fullLabel(data, one.configuration)}, seed ${one.seed}`),
      0,
      (index) => {
        jobs = new Jobs(data.bars[index]);
        show();
      },
    ),
    modes,
  );
  const find = element("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const search = () => {
    const text = find.value.trim();
    if (text === "") return;
    let job = jobs.ids.indexOf(text);
    if (job < 0) job = jobs.ids.findIndex((id) => id.includes(text));
    if (job < 0) return say("No job has such an id.");
    for (let i = 0; i < bars.length; ++i) if (bars.job[i] === job) return gantt.choose(i);
    say(`${jobs.about(job)}; it has no bar here`);
  };
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter") search();
  });
  controls.append(element("label", {}, "Job ", find), button("Find", "Find the job with this id", search));
  show();
}
