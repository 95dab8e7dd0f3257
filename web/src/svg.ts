// SVG elements, and drawings as files: SVG with the colours of the screen in it, PNG made of that.

const SVG = "http://www.w3.org/2000/svg";

/** An SVG element. Text children are text, never markup. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | number> = {},
  ...children: (Node | string)[]
): SVGElementTagNameMap[K] {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    node.setAttribute(name, typeof value === "number" ? String(Math.round(value * 100) / 100) : value);
  }
  node.append(...children);
  return node;
}

/** Width of a character of the drawings' text, in dots; a little more than most have. */
export const CHARACTER = 6.6;

/** The same of bold letters. */
export const BOLD = 8.4;

/** A text cut to the width. */
export function fitted(text: string, width: number, letter = CHARACTER): string {
  const most = Math.floor(width / letter);
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}

/** What a file needs to look as it does here, where no style sheet goes with it. */
const LETTERS = ["fill", "stroke", "stroke-width", "paint-order", "font-family", "font-size", "font-weight"];
const SHAPES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray"];

/** A drawing that stands alone: the colours of the screen in it, on the ground of the page. */
export function asFile(drawing: SVGSVGElement): string {
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const copies = copy.querySelectorAll("*");
  drawing.querySelectorAll("*").forEach((node, i) => {
    const style = getComputedStyle(node);
    copies[i]!.removeAttribute("class");
    if (node instanceof SVGGElement) return;
    for (const name of node instanceof SVGTextElement ? LETTERS : SHAPES) {
      // A drawing made for the file alone says it itself.
      const value = style.getPropertyValue(name);
      if (value) copies[i]!.setAttribute(name, value);
    }
  });
  copy.querySelector("[aria-hidden]")?.remove();
  const ground = getComputedStyle(document.documentElement).backgroundColor;
  copy.prepend(svg("rect", { width: "100%", height: "100%", fill: ground }));
  copy.setAttribute("xmlns", SVG);
  return new XMLSerializer().serializeToString(copy);
}

/** The same as a bitmap, two dots for each of the screen's. */
export async function asBitmap(drawing: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(asFile(drawing))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * drawing.width.baseVal.value;
  canvas.height = 2 * drawing.height.baseVal.value;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no bitmap"))), "image/png"));
}

/** Hands a file to the reader. */
export function download(name: string, contents: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(contents);
  link.download = name;
  link.click();
  // The download has its own hold on the contents by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
