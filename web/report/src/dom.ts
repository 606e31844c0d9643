// Elements are made from text only, so that no name becomes markup.

type Attributes = Record<string, string>;

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...content: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

/** A labelled choice. `changed` gets the position of the chosen option. */
export function choice(label: string, options: string[], chosen: number, changed: (index: number) => void): HTMLElement {
  const select = element("select");
  options.forEach((text, i) => {
    const option = element("option", { value: String(i) }, text);
    option.selected = i === chosen;
    select.append(option);
  });
  select.addEventListener("change", () => changed(Number(select.value)));
  return element("label", {}, `${label} `, select);
}

export function button(text: string, title: string, pressed: () => void): HTMLButtonElement {
  const made = element("button", { type: "button", title, "aria-label": title }, text);
  made.addEventListener("click", pressed);
  return made;
}

/** "1 d 02 h", "12 min", "3.5 s": a time in at most two units. */
export function timeText(seconds: number): string {
  const sign = seconds < 0 ? "-" : "";
  const s = Math.abs(seconds);
  if (s < 60) return `${sign}${Number(s.toPrecision(3))} s`;
  const whole = Math.round(s);
  if (whole < 3600) return `${sign}${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ""}`;
  if (whole < 86400) return `${sign}${Math.floor(whole / 3600)} h${Math.floor((whole % 3600) / 60) ? ` ${Math.floor((whole % 3600) / 60)} min` : ""}`;
  return `${sign}${Math.floor(whole / 86400)} d${Math.floor((whole % 86400) / 3600) ? ` ${Math.floor((whole % 86400) / 3600)} h` : ""}`;
}

export function numberText(value: number): string {
  if (!Number.isFinite(value)) return "-";
  return value.toLocaleString("en", { maximumFractionDigits: 2 });
}

/** The least distance of marks on an axis of time that is at least this. */
export function niceTime(least: number): number {
  for (const step of [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 28800, 43200, 86400]) if (step >= least) return step;
  if (!Number.isFinite(least)) return 1;
  const days = least / 86400;
  const power = 10 ** Math.floor(Math.log10(days));
  return 86400 * power * ([1, 2, 5, 10].find((factor) => factor * power >= days) ?? 10);
}
