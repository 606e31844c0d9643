// Light, dark, or as the system says. The choice is kept where the browser allows that.
import { choice } from "./dom.ts";

const kNames = ["as the system", "light", "dark"];
const kValues = ["", "light", "dark"];
const kKey = "berth-report-theme";
const listeners: (() => void)[] = [];

function kept(): number {
  try {
    return Math.max(0, kValues.indexOf(localStorage.getItem(kKey) ?? ""));
  } catch {
    return 0;
  }
}

function apply(index: number): void {
  if (kValues[index] === "") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = kValues[index];
  for (const listener of listeners) listener();
}

/** Calls back when colours have changed. */
export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

const kLines = 8;
/** Of a line or a bar; after eight they repeat. */
export const lineColour = (i: number) => colour(`line-${i % kLines}`);
/** A dash for those that repeat. */
export const lineDash = (i: number): number[] => [[], [8, 4], [3, 3], [10, 3, 2, 3]][Math.floor(i / kLines) % 4];

export function addTheme(): void {
  const index = kept();
  apply(index);
  document.getElementById("theme")!.append(
    choice("Colours", kNames, index, (chosen) => {
      try {
        localStorage.setItem(kKey, kValues[chosen]);
      } catch {
        // it holds for this view only
      }
      apply(chosen);
    }),
  );
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => apply(kept()));
}
