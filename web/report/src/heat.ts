// A sweep as a table of two settings, coloured by a figure.
import { type Configuration, type Data } from "./data.ts";
import { shownValue } from "./capacity.ts";
import { choice, element, numberText } from "./dom.ts";

const kNone = "(none)";
const valueOf = (one: Configuration, name: string) => (name === "policy" ? one.policy : (one.settings[name] ?? kNone));

function ordered(values: string[]): string[] {
  const numeric = values.every((value) => value !== "" && Number.isFinite(Number(value)));
  return numeric ? values.sort((a, b) => Number(a) - Number(b)) : values;
}

export function addHeat(data: Data): void {
  const all = data.configurations;
  const names = ["policy", ...(data.varying ?? [])].filter((name) => new Set(all.map((one) => valueOf(one, name))).size > 1);
  const place = document.getElementById("heat")!;
  const controls = document.getElementById("heat-controls")!;
  if (names.length === 0) return;
  let rows = 0;
  let columns = Math.min(1, names.length - 1);
  let metric = 0;
  const fixed = new Map<string, string>();
  const rest = element("span");

  const show = () => {
    const across = names[rows];
    const down = names[columns];
    const others = names.filter((name) => name !== across && name !== down);
    rest.replaceChildren();
    let chosen = all;
    // Settings that are not shown are held at one value; those that follow from others leave no choice.
    for (const name of others) {
      const values = ordered([...new Set(chosen.map((one) => valueOf(one, name)))]);
      if (values.length < 2) continue;
      if (!values.includes(fixed.get(name) ?? kNone + kNone)) fixed.set(name, values[0]);
      const kept = chosen.filter((one) => valueOf(one, name) === fixed.get(name));
      rest.append(
        choice(name.replace(/^param /, ""), values, values.indexOf(fixed.get(name)!), (i) => {
          fixed.set(name, values[i]);
          show();
        }),
      );
      chosen = kept;
    }
    const rowValues = ordered([...new Set(chosen.map((one) => valueOf(one, across)))]);
    const columnValues = across === down ? [""] : ordered([...new Set(chosen.map((one) => valueOf(one, down)))]);
    const { unit, label, better } = data.metrics[metric];
    const values = chosen.map((one) => one.means[metric]);
    const least = Math.min(...values);
    const most = Math.max(...values);
    const head = element("tr", {}, element("th", { scope: "col" }, across.replace(/^param /, "")));
    for (const value of columnValues) head.append(element("th", { scope: "col" }, across === down ? label : value || "none"));
    const body = element("tbody");
    for (const rowValue of rowValues) {
      const row = element("tr", {}, element("th", { scope: "row" }, rowValue || "none"));
      for (const columnValue of columnValues) {
        const one = chosen.find(
          (candidate) => valueOf(candidate, across) === rowValue && (across === down || valueOf(candidate, down) === columnValue),
        );
        if (!one) {
          row.append(element("td", {}, "-"));
          continue;
        }
        const value = one.means[metric];
        const level = most > least ? Math.round((9 * (value - least)) / (most - least)) : 0;
        const cell = element("td", { class: `heat heat-${level}`, "data-value": String(value) }, numberText(shownValue(unit, value)));
        if (better !== 0 && most > least && value === (better > 0 ? most : least)) cell.append(element("b", {}, " best"));
        row.append(cell);
      }
      body.append(row);
    }
    const caption = `${label}${unit ? `, ${unit}` : ""}: ${across.replace(/^param /, "")}${across === down ? "" : ` by ${down.replace(/^param /, "")}`}`;
    place.replaceChildren(
      element(
        "div",
        { class: "scroll", role: "region", tabindex: "0", "aria-label": caption },
        element("table", { id: "heat-table" }, element("caption", {}, caption), element("thead", {}, head), body),
      ),
    );
  };
  const titles = names.map((name) => name.replace(/^param /, ""));
  controls.append(
    choice("Figure", data.metrics.map((one) => one.label), 0, (i) => ((metric = i), show())),
    choice("Rows", titles, rows, (i) => ((rows = i), show())),
    choice("Columns", titles, columns, (i) => ((columns = i), show())),
    rest,
  );
  show();
}
