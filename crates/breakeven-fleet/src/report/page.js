// Tables sort by the column whose header is pressed; numbers by their value, the largest first.
for (const table of document.querySelectorAll("table")) {
  const headers = [...table.tHead.rows[0].cells];
  headers.forEach((header, column) => header.firstChild.addEventListener("click", () => {
    const down = header.getAttribute("aria-sort") !== "descending";
    headers.forEach((other) => other.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
    const of = (row) => row.cells[column];
    const compare = (a, b) => {
      const [x, y] = [of(a).dataset.n, of(b).dataset.n];
      if (x === undefined || y === undefined) {
        return (x === undefined) - (y === undefined) || of(a).textContent.localeCompare(of(b).textContent);
      }
      return down ? y - x : x - y;
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  }));
}
