// Columns of numbers sort their table when their head is pressed.
import { element } from "./dom.ts";

function keyOf(row: HTMLTableRowElement, column: number): number | string {
  const cell = row.cells[column];
  const value = cell?.getAttribute("data-value");
  if (value !== null && value !== undefined) return Number(value);
  const text = cell?.textContent ?? "";
  const number = Number(text.replace(/,/g, ""));
  return text !== "" && Number.isFinite(number) ? number : text;
}

export function addSorting(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>("main table")) {
    const body = table.tBodies[0];
    if (!body || body.rows.length < 2 || !table.tHead) continue;
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const press = element("button", { type: "button", class: "sort" }, ...head.childNodes);
      head.replaceChildren(press);
      press.addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const rows = [...body.rows].map((row) => ({ row, key: keyOf(row, column) }));
        rows.sort((a, b) => {
          const by = typeof a.key === "number" && typeof b.key === "number" ? a.key - b.key : String(a.key).localeCompare(String(b.key));
          return up ? by : -by;
        });
        body.append(...rows.map((one) => one.row));
      });
    });
  }
}
