// Tables that sort by a click on a heading.

import { el } from "../dom";

/** Makes the marked tables below `root` sortable; the order as written is the third state. */
export function makeSortable(root: ParentNode): void {
  for (const table of root.querySelectorAll<HTMLTableElement>("table.sorts")) {
    const body = table.tBodies[0];
    if (!body) continue;
    const written = [...body.rows];
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
    heads.forEach((head, column) => {
      const button = el("button", { type: "button" }, ...head.childNodes);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const before = head.getAttribute("aria-sort");
        for (const other of heads) other.removeAttribute("aria-sort");
        if (before === "descending") {
          body.append(...written);
          return;
        }
        const down = before === "ascending";
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        body.append(...[...written].sort((a, b) => compare(a, b, column) * (down ? -1 : 1)));
      });
    });
  }
}

function compare(a: HTMLTableRowElement, b: HTMLTableRowElement, column: number): number {
  const [x, y] = [a.cells[column], b.cells[column]];
  const [m, n] = [x?.dataset["value"], y?.dataset["value"]];
  if (m !== undefined && n !== undefined) return Number(m) - Number(n);
  // What has no figure comes last where others have one.
  if (m !== undefined || n !== undefined) return m !== undefined ? -1 : 1;
  return (x?.textContent ?? "").localeCompare(y?.textContent ?? "", undefined, { sensitivity: "base" });
}
