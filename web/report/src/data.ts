// What the page holds for the script: JSON with columns of numbers in base 64.

export interface Metric {
  key: string;
  label: string;
  unit: string;
  better: number;
}

interface Ranked {
  values: number;
  at: string;
}

export interface Configuration {
  label: string;
  policy: string;
  scenario: number;
  gpus: number;
  settings: Record<string, string>;
  means: number[];
  halves: (number | null)[];
  jct: Ranked;
  wait: Ranked;
  late?: Ranked;
}

export interface Series {
  run: number;
  configuration: number;
  seed: number;
  gpus: number;
  from: string;
  until: number;
  gpus_allocated: string;
  waiting: string;
  gpus_fragmented: string;
}

export interface Bars {
  run: number;
  configuration: number;
  seed: number;
  jobs: string;
  gpus: string;
  submit: string;
  start: string;
  end: string;
  outcome: string;
  nodes?: [string, number][];
  stay_job: string;
  stay_node: string;
  stay_low: string;
  stay_high: string;
  stay_from: string;
  stay_until: string;
}

export interface Data {
  metrics: Metric[];
  scenarios: string[];
  varying?: string[];
  configurations: Configuration[];
  series: Series[];
  bars: Bars[];
}

function bytesOf(text: string): ArrayBuffer {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}

export const doubles = (text: string) => new Float64Array(bytesOf(text));
export const floats = (text: string) => new Float32Array(bytesOf(text));
export const words = (text: string) => new Uint32Array(bytesOf(text));
export const bytes = (text: string) => new Uint8Array(bytesOf(text));

export function readData(): Data {
  return JSON.parse(document.getElementById("data")!.textContent!) as Data;
}

/** The name of a configuration, with its scenario where there are several. */
export function fullLabel(data: Data, c: number): string {
  const one = data.configurations[c];
  return data.scenarios.length > 1 ? `${one.label}, ${data.scenarios[one.scenario]}` : one.label;
}

const kMostLines = 24;

/** The configurations of a scenario that charts draw: the first ones. */
export function drawnConfigurations(data: Data, scenario: number): number[] {
  const all = data.configurations.map((_, c) => c).filter((c) => data.configurations[c].scenario === scenario);
  return all.slice(0, kMostLines);
}

/** The place of a configuration in its scenario: lines of a scenario have colours in this order. */
export function colourIndex(data: Data, c: number): number {
  let index = 0;
  for (let other = 0; other < c; ++other) if (data.configurations[other].scenario === data.configurations[c].scenario) ++index;
  return index;
}
