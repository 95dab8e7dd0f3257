// A file dropped on the calculator: it is a recorded program, perhaps, and those have a page of their own.

import { el } from "./dom";

/** Says where a dropped file belongs, and keeps the browser from opening it in place of the page. */
export function pointToReport(): void {
  const note = el("p", { id: "dropped", role: "status" });
  document.querySelector("main")?.before(note);
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    if (!event.dataTransfer?.files.length) return;
    const served = location.protocol.startsWith("http");
    const how = served
      ? ["drop it on ", el("a", { href: "./report" }, "the report page"), "."]
      : ["make its report with ", el("code", {}, "breakeven show FILE --html report.html"), "."];
    note.replaceChildren("This page takes numbers. A workload file that was recorded: ", ...how);
  });
}
