// The schema of a table, column by column, for its owner to look over and change.

import { make, option } from "./dom.js";

const TYPES = {
  integer: "integer",
  decimal: "decimal",
  date: "date",
  timestamp: "date and time",
  boolean: "true or false",
  category: "category",
  "": "left out",
};

/** What each type states, with a value for a column that had another type. */
const STATES = {
  integer: { low: ["Least", "0"], high: ["Greatest", "1000000"] },
  decimal: { scale: ["Decimal places", "2"], low: ["Least", "0"], high: ["Greatest", "1000000"] },
  date: { low: ["First day", "2000-01-01"], high: ["Last day", "2099-12-31"] },
  // Its unit and its time zone are those of the file.
  timestamp: { low: ["First", ""], high: ["Last", ""] },
  boolean: {},
  category: { values: ["Texts, one a line", ""] },
  "": {},
};

let last = 0;

/** A control with a label. */
function labelled(text, control) {
  control.id = `field-${++last}`;
  return make("div", {}, make("label", { htmlFor: control.id, textContent: text }), control);
}

/**
 * Controls for the columns of an inferred schema, in the place `into`. `texts(column)` gives the
 * different texts of a column. Returns what reads the schema from them.
 */
export function edit(into, { schema, notes }, texts) {
  const found = new Map(schema.columns.map((column) => [column.name, column]));
  const editors = notes.map((note) => column(note, found.get(note.column) ?? null, texts));
  into.replaceChildren(...editors.map(({ shown }) => shown));
  return () => ({ columns: editors.map(({ read }) => read()).filter((read) => read !== null) });
}

function column(note, inferred, texts) {
  const possible = Object.entries(TYPES).filter(
    ([value]) => value !== "timestamp" || inferred?.type === value,
  );
  const kind = make("select", {}, ...possible.map(([value, text]) => option(value, text)));
  kind.value = inferred?.type ?? "";
  const nullable = make("input", { type: "checkbox", checked: inferred?.nullable ?? false });
  nullable.id = `field-${++last}`;
  const empty = make(
    "p",
    {},
    nullable,
    make("label", { htmlFor: nullable.id, textContent: "may have empty cells" }),
  );
  const grid = make("div", { className: "grid" });
  const why = make("p", { className: "hint", textContent: note.kept ? "" : note.told });
  let controls = {};

  async function lay() {
    const states = STATES[kind.value];
    const before = inferred?.type === kind.value ? inferred : {};
    controls = {};
    grid.replaceChildren(labelled("Type", kind));
    for (const [name, [text, otherwise]] of Object.entries(states)) {
      const value = before[name] ?? otherwise;
      controls[name] =
        name === "values"
          ? make("textarea", { rows: 3, value: [value].flat().join("\n") })
          : make("input", { value: String(value), autocomplete: "off" });
      grid.append(labelled(text, controls[name]));
    }
    empty.hidden = kind.value === "";
    why.hidden = kind.value !== "" || !why.textContent;
    if (controls.values && !before.values) {
      const area = controls.values;
      area.value = await texts(note.column).then(
        (list) => list.join("\n"),
        (e) => {
          why.textContent = e.message;
          why.hidden = false;
          return "";
        },
      );
    }
  }
  kind.onchange = () => {
    lay();
    // It was moved within the document.
    kind.focus();
  };
  lay();

  function read() {
    if (!kind.value) return null;
    const value = (name) => controls[name].value.trim();
    const stated = { name: note.column, type: kind.value };
    if (nullable.checked) stated.nullable = true;
    if (kind.value === "timestamp") {
      stated.unit = inferred.unit;
      if (inferred.utc) stated.utc = true;
    }
    for (const name of Object.keys(controls)) {
      if (name === "values") {
        stated.values = value(name)
          .split("\n")
          .map((text) => text.trim())
          .filter(Boolean);
      } else {
        stated[name] = name === "scale" ? Number(value(name)) : value(name);
      }
    }
    return stated;
  }
  const legend = make("legend", { textContent: note.column });
  return { shown: make("fieldset", {}, legend, grid, empty, why), read };
}
