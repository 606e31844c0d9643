import { addBars } from "./bars.ts";
import { addCapacity } from "./capacity.ts";
import { readData } from "./data.ts";
import { addDistributions, addLateness } from "./distributions.ts";
import { addHeat } from "./heat.ts";
import { addSeries } from "./series.ts";
import { addSorting } from "./sorting.ts";
import { addTheme } from "./theme.ts";

const data = readData();
addTheme();
addSorting();
// What is further down is drawn when it comes near, so that the page opens at once.
function when(id: string, draw: () => void): void {
  const target = document.getElementById(id);
  if (!target) return;
  const watch = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      draw();
    },
    { rootMargin: "600px" },
  );
  watch.observe(target);
}
when("distributions", () => addDistributions(data));
when("deadlines", () => addLateness(data));
when("over-time", () => addSeries(data));
when("gantt-section", () => addBars(data));
when("sweep", () => addHeat(data));
when("capacity-section", () => addCapacity(data));
document.documentElement.dataset.ready = "yes";
