// A chart of an answer: a horizontal bar for each row.

const SVG = "http://www.w3.org/2000/svg";
const MOST_BARS = 30;
const ROW = 32;
const BAR = 20;

function element(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

/** Bars for `[label, text, value]` each, as an image that says what it shows; null for no bars. */
export function bars(title, rows, width) {
  const shown = rows.slice(0, MOST_BARS);
  if (shown.length === 0) return null;
  // Labels and values are a third of the width at most.
  const letter = 8;
  const room = (place, most) => Math.min(most, Math.max(...shown.map((row) => row[place].length)));
  const most = Math.max(4, Math.floor(width / 3 / letter));
  const left = room(0, most) * letter + 12;
  const right = room(1, most) * letter + 12;
  const values = shown.map((row) => row[2]);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const scale = (width - left - right) / (high - low || 1);
  const x = (value) => left + (value - low) * scale;
  const height = shown.length * ROW;
  const svg = element("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  const all = rows.length > MOST_BARS ? `, the first ${MOST_BARS} of ${rows.length} rows` : "";
  const told = shown.map(([label, text]) => `${label} ${text}`).join(", ");
  svg.setAttribute("aria-label", `${title}${all}: ${told}`);
  shown.forEach(([label, text, value], i) => {
    const [y, middle] = [i * ROW + (ROW - BAR) / 2, i * ROW + ROW / 2];
    const [from, to] = [Math.min(x(0), x(value)), Math.max(x(0), x(value))];
    const centered = { y: middle, "dominant-baseline": "central" };
    svg.append(
      element("text", { x: left - 8, "text-anchor": "end", ...centered }, short(label, most)),
      element("rect", { class: "bar", x: from, y, width: Math.max(to - from, 1), height: BAR }),
      element("text", { x: to + 6, ...centered }, short(text, most)),
    );
  });
  svg.append(element("line", { class: "zero", x1: x(0), x2: x(0), y1: 0, y2: height }));
  return svg;
}
