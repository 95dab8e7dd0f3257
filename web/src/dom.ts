// Small helpers for making and finding elements.

type Attributes = Record<string, string | boolean>;

/** An element with attributes and children. Text children are text, never HTML. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** The element with this id; it is part of the page. */
export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page lacks #${id}`);
  return node as T;
}

/** A text whose words between backticks are code. */
export function coded(text: string): (Node | string)[] {
  return text.split("`").map((part, i) => (i % 2 === 0 ? part : el("code", {}, part)));
}

/** Sets text only when it differs, so that nothing is laid out again needlessly. */
export function say(node: Node, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}
