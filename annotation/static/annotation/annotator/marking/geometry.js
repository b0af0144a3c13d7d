// Rectangles in fractions of the image's width and height, from its top left corner.

import { gettext } from "../words.js";

// Smaller than this, in fractions, is a slip of the hand and not a box.
export const SMALLEST = 0.01;

const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

export function between(a, b) {
  const [x1, x2] = [clamp(Math.min(a.x, b.x), 0, 1), clamp(Math.max(a.x, b.x), 0, 1)];
  const [y1, y2] = [clamp(Math.min(a.y, b.y), 0, 1), clamp(Math.max(a.y, b.y), 0, 1)];
  return { x: x1, y: y1, width: x2 - x1, height: y2 - y1 };
}

export function moved(box, dx, dy) {
  return {
    x: clamp(box.x + dx, 0, 1 - box.width),
    y: clamp(box.y + dy, 0, 1 - box.height),
    width: box.width,
    height: box.height,
  };
}

// `edges` names the edges that follow: "n", "se", "w" …
export function resized(box, edges, dx, dy) {
  let [left, top, right, bottom] = [box.x, box.y, box.x + box.width, box.y + box.height];
  if (edges.includes("w")) left = clamp(left + dx, 0, right - SMALLEST);
  if (edges.includes("e")) right = clamp(right + dx, left + SMALLEST, 1);
  if (edges.includes("n")) top = clamp(top + dy, 0, bottom - SMALLEST);
  if (edges.includes("s")) bottom = clamp(bottom + dy, top + SMALLEST, 1);
  return { x: left, y: top, width: right - left, height: bottom - top };
}

export function bigEnough(box) {
  return box.width >= SMALLEST && box.height >= SMALLEST;
}

export function inWords(box) {
  const percent = (value) => `${Math.round(value * 100)} %`;
  const places = { x: percent(box.x), y: percent(box.y), width: percent(box.width), height: percent(box.height) };
  return gettext("%(x)s from the left, %(y)s from the top, %(width)s wide, %(height)s high", places);
}
