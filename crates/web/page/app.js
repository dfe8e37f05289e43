// The page: what a person does, step by step. Everything with keys is in the worker.

import { bars } from "./chart.js";
import { $, count, hideProgress, make, option, showProgress, size } from "./dom.js";
import { Everlevel } from "./everlevel.js";
import { edit } from "./fields.js";
import { HIDDEN, operators, sqlOf } from "./query.js";

const INSECURE = "insecure: for trying out only";

let everlevel;
let connected = false;
let table = null;
let file = null;
let readSchema = null;
let explained = null;

/** Tells what went wrong, where whoever reads the page with eyes or ears finds it. */
function fail(error) {
  const failure = $("failure");
  failure.textContent = error.code ? `${error.message} [${error.code}]` : error.message;
  failure.hidden = false;
  failure.scrollIntoView({ block: "center" });
}

/** Does one thing at a time, with its control disabled. */
async function doing(control, work) {
  $("failure").hidden = true;
  control.disabled = true;
  try {
    await work();
  } catch (error) {
    fail(error);
  } finally {
    control.disabled = false;
  }
}

const onClick = (id, work) => {
  $(id).onclick = () => doing($(id), work);
};

function onSubmit(id, work) {
  $(id).onsubmit = (event) => {
    event.preventDefault();
    return doing($(id).querySelector("button:not([type])"), work);
  };
}

// Connect.

async function connect(token) {
  await everlevel.connect(token);
  connected = true;
  $("connect-status").textContent = "Connected.";
  await showTable();
}

onSubmit("connect", () => connect($("token").value.trim()));

// Key.

function showKey(key) {
  $("no-key").hidden = key !== null;
  $("export").hidden = $("forget").hidden = key === null;
  if (!key) {
    $("key-status").textContent = "";
    return;
  }
  const warning = key.insecure ? ` (${INSECURE})` : "";
  $("key-status").textContent =
    `Key ${key.keyId}, of the set ${key.set}${warning}. ` +
    `A ciphertext has ${count(key.slots, "row")}.`;
}

onClick("draw", async () => {
  // So that the browser does not clear it by itself; it may say no.
  await navigator.storage.persist?.();
  const set = $("set").selectedOptions[0];
  showKey(await everlevel.drawKey(set.value, { insecure: set.dataset.insecure === "true" }));
  await showTable();
});

$("import").onclick = () => $("key-file").click();
$("key-file").onchange = () =>
  doing($("import"), async () => {
    const [chosen] = $("key-file").files;
    if (!chosen) return;
    const bytes = new Uint8Array(await chosen.arrayBuffer());
    $("key-file").value = "";
    const replaces = "It replaces the key that is here. Go on?";
    if ((await everlevel.key()) && !confirm(replaces)) return;
    showKey(await everlevel.openKey(bytes, { insecure: true }));
    await showTable();
  });

onClick("export", async () => {
  const url = URL.createObjectURL(new Blob([await everlevel.exportKey()]));
  make("a", { href: url, download: "secret.key" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  $("key-status").textContent += " Exported: whoever has the file reads everything.";
});

onClick("forget", async () => {
  if (!confirm("Without an exported copy nobody can read the answers any more. Forget the key?"))
    return;
  await everlevel.forgetKey();
  showKey(null);
  await showTable();
});

// Table.

async function take(name, bytes) {
  const inferred = await everlevel.inferSchema(bytes);
  // Both together: a file that is no table leaves the one before it.
  file = { name, bytes };
  readSchema = edit($("fields"), inferred, (column) => everlevel.distinct(bytes, column));
  $("file-status").textContent = `${name}: ${size(bytes.length)}.`;
  $("schema").hidden = false;
}

const takeFile = (chosen) =>
  chosen &&
  doing($("csv"), async () => {
    await take(chosen.name, new Uint8Array(await chosen.arrayBuffer()));
  });

$("csv").onchange = () => takeFile($("csv").files[0]);
$("drop").ondragover = (event) => {
  event.preventDefault();
  $("drop").classList.add("over");
};
$("drop").ondragleave = () => $("drop").classList.remove("over");
$("drop").ondrop = (event) => {
  event.preventDefault();
  $("drop").classList.remove("over");
  takeFile(event.dataTransfer.files[0]);
};

onClick("sample", async () => {
  const answer = await fetch("page/sample.csv");
  await take("sample.csv", new Uint8Array(await answer.arrayBuffer()));
});

onSubmit("schema", async () => {
  if (!(await everlevel.key())) throw new Error("Draw or import a key first.");
  if (!connected) throw new Error("Connect to the service first.");
  try {
    const shown = (at) => showProgress("table", at);
    await everlevel.uploadTable(file.bytes, readSchema(), file.name, shown);
  } finally {
    hideProgress("table");
  }
  await showTable();
});

async function showTable() {
  table = connected ? await everlevel.table() : null;
  // An answer about another table, or under another key, is not shown beside this one.
  $("answer").hidden = true;
  $("rows").replaceChildren();
  $("chart").replaceChildren();
  window.onresize = null;
  $("ask-first").hidden = table !== null;
  $("ask").hidden = table === null;
  $("table-status").textContent = "";
  if (table) {
    const { columns } = table.schema;
    $("table-status").textContent =
      `${table.name} is encrypted and at the service: ` +
      `${count(table.rows, "row")}, ${count(columns.length, "column")}, ${size(table.bytes)}.`;
    layQuery();
  }
  await showStored();
}

async function showStored() {
  const stored = connected ? await everlevel.tables() : [];
  $("stored").hidden = stored.length === 0;
  $("stored-tables").replaceChildren(...stored.map(storedTable));
}

/** A table at the service, and how to delete it. */
function storedTable({ id, rows, columns, ofThisKey }) {
  const here = table?.id === id;
  const name = here ? `${table.name}, the table of this page` : `Table ${id.slice(0, 8)}`;
  const key = ofThisKey ? "" : ", under another key";
  const told = `${name}: ${count(rows, "row")}, ${count(columns, "column")}${key}`;
  const button = make("button", { type: "button", className: "quiet", textContent: "Delete" });
  button.ariaLabel = `Delete ${name}`;
  button.onclick = () =>
    doing(button, async () => {
      if (!confirm(`${told}. Delete it at the service? Nobody can bring it back.`)) return;
      await everlevel.deleteTable(id);
      await showTable();
    });
  return make("li", {}, `${told} `, button);
}

// Query.

const columnOf = (id) => table.schema.columns.find(({ name }) => name === $(id).value) ?? null;
const isNumber = ({ type }) => type === "integer" || type === "decimal";

function layQuery() {
  const names = (columns) => columns.map(({ name }) => option(name));
  const { columns } = table.schema;
  $("of").replaceChildren(...names(columns.filter(isNumber)));
  const grouped = columns.filter(({ type }) => type === "category" || type === "boolean");
  $("group").replaceChildren(option("", "the whole table"), ...names(grouped));
  $("where").replaceChildren(option("", "all rows"), ...names(columns));
  for (const choice of $("measure").options) {
    choice.disabled = choice.value !== "count" && $("of").options.length === 0;
  }
  $("measure").value = $("of").options.length ? "sum" : "count";
  if (grouped.length) $("group").value = grouped[0].name;
  $("where").value = "";
  // A column of this name may have another type now.
  delete $("operator").dataset.column;
  choose();
}

/** The form becomes SQL. */
function choose() {
  const where = columnOf("where");
  $("of-what").hidden = $("measure").value === "count";
  for (const id of ["where-operator", "where-value", "where-hide"]) $(id).hidden = !where;
  if (where && $("operator").dataset.column !== where.name) {
    const choices = operators(where.type).map(([value, text]) => option(value, text));
    $("operator").replaceChildren(...choices);
    $("operator").dataset.column = where.name;
    const values = where.type === "boolean" ? ["true", "false"] : (where.values ?? []);
    $("values").replaceChildren(...values.map((value) => option(value)));
    $("value").value = "";
    const time = where.utc ? "2026-01-31 12:00:00Z" : "2026-01-31 12:00:00";
    const examples = { date: "2026-01-31", timestamp: time, boolean: "true" };
    $("value").placeholder = examples[where.type] ?? "";
  }
  const filter = { column: where, operator: $("operator").value, value: $("value").value };
  const sql = sqlOf({
    measure: $("measure").value,
    of: columnOf("of"),
    group: columnOf("group"),
    where: where && { ...filter, hidden: $("hide").checked },
  });
  $("sql").value = sql ?? "";
  explain();
}

for (const id of ["measure", "of", "group", "where", "operator", "value", "hide"]) {
  $(id).addEventListener("input", choose);
}

let waiting = 0;
$("sql").oninput = () => explain();

/** Says what a query takes, once nobody has typed for a moment. */
function explain() {
  clearTimeout(waiting);
  explained = null;
  const sql = $("sql").value.trim();
  $("explained").textContent = sql ? "" : "State a value to compare with.";
  $("constants").replaceChildren();
  waiting = setTimeout(async () => {
    if (!sql) return;
    try {
      const found = await everlevel.explain(sql);
      if (sql !== $("sql").value.trim()) return;
      explained = { sql, ...found };
      showConstants(found.parameters);
      const keys = found.keysAreThere
        ? "The service has its keys already."
        : `It takes ${size(found.keyBytes)} of server keys, which are drawn here and sent.`;
      $("explained").textContent = found.bootstraps
        ? `${keys} It has to be bootstrapped, which takes time.`
        : keys;
    } catch (error) {
      if (sql === $("sql").value.trim()) $("explained").textContent = error.message;
    }
  }, 300);
}

/** An input for each value that the query hides, but for the one of the form. */
function showConstants(parameters) {
  const inputs = parameters
    .filter(({ name }) => !isOfForm(name))
    .map(({ name, column, expected }) => {
      const input = make("input", {
        id: `constant-${name}`,
        name,
        autocomplete: "off",
        required: true,
      });
      const text = `:${name}, hidden from the service (${column}: ${expected})`;
      return make("div", {}, make("label", { htmlFor: input.id, textContent: text }), input);
    });
  $("constants").replaceChildren(...inputs);
}

const isOfForm = (name) => name === HIDDEN && $("hide").checked && columnOf("where") !== null;

onSubmit("ask", async () => {
  const sql = $("sql").value.trim();
  if (!sql) throw new Error("State a value to compare with.");
  if (explained?.sql !== sql) {
    explained = { sql, ...(await everlevel.explain(sql)) };
    showConstants(explained.parameters);
  }
  const constants = {};
  for (const { name } of explained.parameters) {
    constants[name] = (isOfForm(name) ? $("value") : $(`constant-${name}`)).value.trim();
  }
  $("ask-status").textContent = "";
  let answer;
  try {
    answer = await everlevel.ask(sql, constants, (at) => {
      $("cancel").hidden = at.stage !== "waiting" && at.stage !== "computing";
      showProgress("ask", at);
    });
  } finally {
    hideProgress("ask");
  }
  $("ask-status").textContent =
    `Answered; the service computed for ${answer.seconds.toFixed(1)} seconds.`;
  showAnswer(sql, answer);
  explain();
});

onClick("cancel", () => everlevel.cancel());

// Answer.

function showAnswer(sql, { names, types, rows }) {
  const number = types.map(({ type }) => type === "integer" || type === "decimal");
  const cell = (name, text, i) =>
    make(name, { textContent: text ?? "–", className: number[i] ? "number" : "" });
  const head = names.map((name, i) => Object.assign(cell("th", name, i), { scope: "col" }));
  const body = rows.map((row) => make("tr", {}, ...row.map((text, i) => cell("td", text, i))));
  const caption = make("caption", { textContent: `${count(rows.length, "row")}, decrypted here` });
  $("rows").replaceChildren(
    caption,
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...body),
  );
  $("asked").textContent = sql;
  $("answer").hidden = false;
  layChart(names, number, rows);
  $("answer-title").focus();
}

function layChart(names, number, rows) {
  const labels = number.findIndex((is) => !is);
  const numbers = names.map((name, i) => [name, i]).filter(([, i]) => number[i]);
  $("charted").hidden = rows.length < 2 || numbers.length === 0;
  if ($("charted").hidden) return;
  $("chart-of").replaceChildren(...numbers.map(([name, i]) => option(String(i), name)));
  $("chart-of").value = String(numbers.at(-1)[1]);
  const draw = () => {
    const place = Number($("chart-of").value);
    const label = (row, i) => (labels < 0 ? String(i + 1) : (row[labels] ?? "–"));
    const shown = rows.map((row, i) => [label(row, i), row[place], Number(row[place])]);
    const width = Math.max(280, $("chart").clientWidth);
    $("chart").replaceChildren(
      bars(
        names[place],
        shown.filter((row) => row[1] !== null),
        width,
      ) ?? "",
    );
  };
  $("chart-of").onchange = draw;
  window.onresize = draw;
  draw();
}

// Begin.

async function begin() {
  everlevel = await Everlevel.start();
  for (const { name, insecure } of await everlevel.sets()) {
    const choice = option(name, insecure ? `${name} (${INSECURE})` : name);
    choice.dataset.insecure = insecure;
    $("set").append(choice);
  }
  if (everlevel.problem) fail(new Error(`The key of an earlier visit: ${everlevel.problem}`));
  showKey(await everlevel.key());
  // A token in the address, behind #, is not sent with it.
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    history.replaceState(null, "", location.pathname);
    $("token").value = token;
    await connect(token);
  }
  document.documentElement.dataset.ready = "true";
}

begin().catch(fail);
