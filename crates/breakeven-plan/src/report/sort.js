// A click on a header sorts its table by that column: figures by their number, the rest by name; a second click turns it.
for (const header of document.querySelectorAll("thead th")) {
  header.addEventListener("click", () => {
    const body = header.closest("table").tBodies[0];
    const column = header.cellIndex;
    const down = header.ariaSort !== "descending";
    for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
    header.ariaSort = down ? "descending" : "ascending";
    const value = (row) => {
      const text = row.cells[column].textContent;
      const number = parseFloat(text.replace(/[^0-9.−-]/, "").replace(/,/g, "").replace("−", "-").replace(/^[^0-9-]+/, ""));
      return Number.isNaN(number) ? text : number;
    };
    const order = (a, b) => (typeof a === "number" && typeof b === "number" ? b - a : String(b).localeCompare(String(a)));
    const rows = [...body.rows].sort((a, b) => order(value(a), value(b)) * (down ? 1 : -1));
    body.append(...rows);
  });
}
