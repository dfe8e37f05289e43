// What all parts of the page need of the document.

export const $ = (id) => document.getElementById(id);

/** An element with properties and children. */
export function make(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

export const option = (value, text = value) => make("option", { value, textContent: text });

const UNITS = ["bytes", "kB", "MB", "GB"];

/** Bytes as a person reads them. */
export function size(bytes) {
  const unit = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  const number = bytes / 1000 ** unit;
  return `${number.toFixed(unit > 1 && number < 100 ? 1 : 0)} ${UNITS[unit]}`;
}

export const count = (n, one, many = `${one}s`) =>
  `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

const STAGES = {
  encrypting: ["Encrypting", (n) => count(n, "file")],
  sending: ["Sending the table", size],
  keys: ["Drawing server keys", (n) => n.toLocaleString("en")],
  "sending keys": ["Sending server keys", size],
  waiting: ["Waiting for the service", null],
  computing: ["The service computes", (n) => count(n, "block")],
  fetching: ["Fetching the result", size],
};

/** Shows how far work is in the progress bar of this name. */
export function showProgress(name, { stage, done, total }) {
  const bar = $(`${name}-bar`);
  const [text, unit] = STAGES[stage];
  $(`${name}-progress`).hidden = false;
  const told = unit && total > 0 ? `${text}: ${unit(done)} of ${unit(total)}` : text;
  document.querySelector(`label[for="${name}-bar"]`).textContent = told;
  if (total > 0) {
    bar.max = total;
    bar.value = done;
  } else {
    bar.removeAttribute("value");
  }
}

export const hideProgress = (name) => {
  $(`${name}-progress`).hidden = true;
};
