// Rectangles in fractions of the image's width and height, from its top left corner, and an SVG that lies over the image.

import { gettext } from "../words.js";

const SVG = "http://www.w3.org/2000/svg";
export const CLICK = 5; // CSS pixels that the pointer may move during a click
const STEP = 0.01;
const FINE_STEP = 0.002;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// A rectangle smaller than this, in fractions, is accidental and not a box.
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

// `edges` names the edges that move: "n", "se", "w" …
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

// The position of the picture without its letter-box, and the size of its unit.
export function onScreen(svg) {
  const { width, height } = svg.viewBox.baseVal;
  const { left, top, width: across, height: down } = svg.getBoundingClientRect();
  const scale = Math.min(across / width, down / height) || 1;
  return { left: left + (across - width * scale) / 2, top, width: width * scale, height: height * scale, scale };
}

// In fractions of the picture, from its top left corner.
export function fractionAt(svg, event) {
  const { left, top, width, height } = onScreen(svg);
  return { x: (event.clientX - left) / width, y: (event.clientY - top) / height };
}

// How far an arrow key moves something, in fractions; null for other keys. With Alt it is a fifth of that.
export function arrowStep(event) {
  const step = event.altKey ? FINE_STEP : STEP;
  return ARROWS[event.key]?.map((direction) => direction * step) ?? null;
}

export function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
