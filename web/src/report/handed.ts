// What the calculator and the report page say to each other when one hands a file to the other.

/** The report page to who opened it: it is there. */
export const READY = "breakeven: the report page is there";

/** Opens each file that the page which opened this one hands over. */
export function takeHanded(open: (file: File) => void): void {
  const opener = window.opener as Window | null;
  if (!opener) return;
  addEventListener("message", (event) => {
    if (event.source === opener && event.origin === location.origin.replace("file://", "null") && event.data instanceof File) open(event.data);
  });
  opener.postMessage(READY, "*");
}
