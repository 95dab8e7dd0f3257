// A recorded program's file, dropped on the calculator or chosen: it is handed to the report page, which opens for it.

import { byId, el } from "./dom";
import { checkFile } from "./report/file";
import { READY } from "./report/handed";
import { quoted } from "./words";

/** The report page has this long to say that it is there, ms. */
const PATIENCE = 8000;

const said = el("span", { role: "status" });

/** Takes files; what becomes of them is said, and the answer stays. */
export function takeFiles(): void {
  const input = el("input", { type: "file", id: "choose", class: "unseen", accept: ".json,.gz,application/json,application/gzip" });
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    input.value = "";
    if (file) void hand(file);
  });
  byId("recorded").append(
    "Recorded a script? Drop its workload file anywhere here, or ", input, el("label", { for: "choose", class: "button" }, "choose it"), ": its report opens. ", said);
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    // A text dropped on a field goes there.
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (file) void hand(file);
  });
}

async function hand(file: File): Promise<void> {
  said.className = "";
  try {
    await checkFile(file);
  } catch (error) {
    said.className = "error";
    said.replaceChildren(`${short(file.name)}: ${(error as Error).message}`);
    return;
  }
  if (open(file)) return;
  const again = el("button", { type: "button" }, "Open its report");
  again.addEventListener("click", () => open(file));
  said.replaceChildren(`The browser wants a click for ${short(file.name)}: `, again);
}

/** Opens the report page and hands the file over once it is there; false where the browser forbids it. */
function open(file: File): boolean {
  // From a server it has a path of its own; on disk it lies beside this page.
  const page = new URL(/\.html?$/.test(location.pathname) ? "report.html" : "report", location.href);
  const report = window.open(page);
  if (!report) return false;
  said.replaceChildren(`Opening the report of ${short(file.name)} …`);
  const late = setTimeout(() => {
    removeEventListener("message", heard);
    said.className = "error";
    said.replaceChildren(
      `There is no report page at ${page.protocol === "file:" ? "report.html beside this one" : page.pathname}. `,
      el("code", {}, `breakeven show ${quoted(file.name)} --html report.html`), " makes one with the report in it; ",
      el("code", {}, "breakeven serve"), " has it, too.");
  }, PATIENCE);
  function heard(event: MessageEvent): void {
    if (event.source !== report || event.data !== READY) return;
    clearTimeout(late);
    removeEventListener("message", heard);
    report?.postMessage(file, event.origin === "null" ? "*" : event.origin);
    said.replaceChildren(`The report of ${short(file.name)} is in another window.`);
  }
  addEventListener("message", heard);
  return true;
}

/** A name that fills no page and turns no words round. */
function short(name: string): string {
  const plain = [...name].filter((c) => !/\p{C}/u.test(c)).join("");
  return plain.length > 60 ? `${plain.slice(0, 59)}…` : plain;
}
