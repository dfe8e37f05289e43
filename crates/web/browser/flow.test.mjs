// The page as a person uses it, in Chromium, and what leaves it meanwhile.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { browser, missing, scratch, serve, watch } from "./support.mjs";

const SET = "insecure_bgv-65537-n11";
const WARDS = ["cardiology", "oncology", "surgery"];
const HIDDEN = "61234.56";
// Where screenshots go, if anybody wants to look at them.
const SHOTS = process.env.EVERLEVEL_SHOTS;

// Values that nothing else contains: names that are left out, and amounts of seven digits.
const rows = Array.from({ length: 120 }, (_, i) => ({
  ward: WARDS[(i * 7) % 3],
  patient: `Zebrowska-${String(i).padStart(4, "0")}`,
  cents: 1234567n + ((BigInt(i) * 7654321n) % 8700000n),
}));
const decimal = (cents) => `${cents / 100n}.${String(cents % 100n).padStart(2, "0")}`;
const csv = `ward,patient,cost\n${rows
  .map((row) => `${row.ward},${row.patient},${decimal(row.cents)}\n`)
  .join("")}`;

const sum = (of) => of.reduce((total, { cents }) => total + cents, 0n);
const expected = WARDS.map((ward) => {
  const of = rows.filter((row) => row.ward === ward);
  return [ward, String(of.length), decimal(sum(of))];
});

let place, service, watched, chromium, page;
const errors = [];
const elsewhere = [];

before(async () => {
  if (missing) return;
  place = scratch();
  service = await serve(place.directory);
  watched = await watch(service.port);
  chromium = await browser();
  page = await chromium.newPage({ viewport: { width: 1280, height: 900 }, acceptDownloads: true });
  page.setDefaultTimeout(300_000);
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("request", (request) => {
    const here = [`${watched.url}/`, "data:", "blob:"].some((start) =>
      request.url().startsWith(start),
    );
    if (!here) elsewhere.push(request.url());
  });
});

after(async () => {
  await chromium?.close();
  watched?.end();
  await service?.end();
  place?.remove();
});

const browsed = (name, run) => test(name, { skip: missing ?? false, timeout: 1_200_000 }, run);

const open = async () => {
  await page.goto(`${watched.url}/`);
  await page.waitForSelector("html[data-ready]", { state: "attached" });
};
const connect = async () => {
  await page.fill("#token", service.token);
  await page.click("#connect button");
  await page.waitForFunction(() => document.getElementById("connect-status").textContent);
};
const ask = async () => {
  await page.evaluate(() => {
    document.getElementById("ask-status").textContent = "";
  });
  await page.click("#ask button:not([type])");
  await page.waitForFunction(
    () =>
      document.getElementById("ask-status").textContent ||
      !document.getElementById("failure").hidden,
  );
  assert.equal(await page.textContent("#failure"), "");
  return page.$$eval("#rows tbody tr", (found) =>
    found.map((row) => [...row.cells].map((cell) => cell.textContent)),
  );
};
const keyFile = () =>
  page.evaluate(async () => {
    const root = await navigator.storage.getDirectory();
    const file = await (await root.getFileHandle("secret.key")).getFile();
    return [...new Uint8Array(await file.arrayBuffer())];
  });

async function look(name) {
  for (const [scheme, width] of [
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
    ["dark", 390],
  ]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height: 900 });
    const over = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    assert.equal(over, 0, `${name}, ${width}: the page is wider than its window`);
    if (SHOTS)
      await page.screenshot({
        path: path.join(SHOTS, `${name}-${scheme}-${width}.png`),
        fullPage: true,
      });
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 900 });
}

browsed("a key is drawn, a table encrypted and sent, and asked", async () => {
  await open();
  await connect();
  await page.selectOption("#set", SET);
  await page.click("#draw");
  await page.waitForFunction(() => document.getElementById("key-status").textContent);
  await look("begin");
  await page.setInputFiles("#csv", {
    name: "a-telling-name.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(csv),
  });
  await page.waitForSelector("#schema:not([hidden])");
  // Names of patients are left out, which the page says last, and why.
  const kinds = await page.$$eval("#fields select", (found) => found.map((kind) => kind.value));
  assert.deepEqual(kinds, ["category", "decimal", ""]);
  assert.match(await page.textContent("#fields fieldset:last-of-type .hint"), /different texts/);
  await look("schema");
  await page.click("#schema > button");
  await page.waitForSelector("#ask:not([hidden])");
  assert.match(await page.textContent("#table-status"), /120 rows, 2 columns/);
  await page.waitForFunction(() =>
    /server keys/.test(document.getElementById("explained").textContent),
  );
  await look("query");
  assert.deepEqual(await ask(), expected);
  await page.waitForSelector("#chart svg");
  assert.equal(await page.$$eval("#chart .bar", (bars) => bars.length), 3);
  await look("answer");
});

browsed("a value is hidden from the service", async () => {
  await page.selectOption("#where", "cost");
  await page.selectOption("#operator", ">");
  await page.check("#hide");
  await page.fill("#value", HIDDEN);
  await page.waitForFunction(() =>
    /server keys/.test(document.getElementById("explained").textContent),
  );
  const limit = BigInt(HIDDEN.replace(".", ""));
  const meant = WARDS.map((ward) => {
    const of = rows.filter((row) => row.ward === ward && row.cents > limit);
    return [ward, String(of.length), decimal(sum(of))];
  });
  assert.deepEqual(await ask(), meant);
});

browsed("what is asked again takes no new keys, also after a reload", async () => {
  await page.reload();
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  assert.match(await page.textContent("#key-status"), new RegExp(SET));
  await connect();
  await page.waitForSelector("#ask:not([hidden])");
  await page.waitForFunction(() =>
    /already/.test(document.getElementById("explained").textContent),
  );
  const before = watched.sent().length;
  assert.deepEqual(await ask(), expected);
  assert.ok(watched.sent().length - before < 100_000, "keys were sent again");
  // A query that the user types, and an error for one that cannot be answered.
  await page.fill("#sql", "select ward, max(cost) from t group by ward order by ward");
  const most = (ward) => rows.filter((row) => row.ward === ward).map((row) => row.cents);
  const largest = WARDS.map((ward) => [
    ward,
    decimal(most(ward).reduce((a, b) => (a > b ? a : b))),
  ]);
  assert.deepEqual(await ask(), largest);
  await page.fill("#sql", "select nothing from t");
  await page.waitForFunction(() =>
    /no column is named/.test(document.getElementById("explained").textContent),
  );
});

browsed("neither the key nor a value leaves the page", async () => {
  const sent = watched.sent();
  // Where text is sent, many of its characters stand together. Seven digits alone are among some
  // megabytes of ciphertexts by chance, once in millions of runs.
  const written = (sent.toString("latin1").match(/[\t\r\n -~]{24,}/g) ?? []).join("\n");
  // The watch sees what is sent: the token, the schema, queries.
  for (const shown of [service.token, "cardiology", "group by", "table plan"]) {
    assert.ok(written.includes(shown), `${shown} was sent`);
  }
  assert.deepEqual(elsewhere, [], "requests to somebody else");
  for (const name of ["Zebrowska", "a-telling-name"]) {
    assert.ok(!sent.includes(name), `${name} was sent`);
  }
  const texts = [
    HIDDEN,
    HIDDEN.replace(".", ""),
    ...expected.map(([, , total]) => total),
  ];
  for (const { cents } of rows) texts.push(decimal(cents), String(cents));
  for (const text of texts) assert.ok(!written.includes(text), `${text} was sent`);
  for (const { cents } of rows) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(cents);
    assert.ok(!sent.includes(bytes), `${cents} was sent as an integer`);
  }
  // The end of the file holds the coefficients of the key and of its sparse one, three bits each.
  const file = Buffer.from(await keyFile());
  const secret = file.subarray(file.length - (2 * 2048 * 3) / 8);
  assert.ok(file.length < secret.length + 1024 && new Set(secret).size > 20);
  for (let at = 0; at + 16 <= secret.length; at += 16) {
    const part = secret.subarray(at, at + 16);
    // Base64 begins at every third byte.
    const coded = [0, 1, 2].map((shift) => part.subarray(shift, shift + 12).toString("base64"));
    for (const form of [part, part.toString("hex"), ...coded]) {
      assert.ok(!sent.includes(form), "bytes of the secret key were sent");
    }
  }
});

browsed("a key is exported, forgotten and imported", async () => {
  const kept = Buffer.from(await keyFile());
  const download = page.waitForEvent("download");
  await page.click("#export");
  const exported = readFileSync(await (await download).path());
  assert.ok(exported.equals(kept));
  page.on("dialog", (dialog) => dialog.accept());
  const told = await page.textContent("#key-status");
  await page.click("#forget");
  await page.waitForSelector("#no-key:not([hidden])");
  const names = await page.evaluate(async () => {
    const found = [];
    for await (const name of (await navigator.storage.getDirectory()).keys()) found.push(name);
    return found;
  });
  assert.deepEqual(names, [], "nothing is left");
  const file = path.join(place.directory, "secret.key");
  writeFileSync(file, exported);
  await page.setInputFiles("#key-file", file);
  await page.waitForSelector("#export:not([hidden])");
  assert.equal((await page.textContent("#key-status")).slice(0, 40), told.slice(0, 40));
  // Something else is refused with its code.
  writeFileSync(file, csv);
  await page.setInputFiles("#key-file", file);
  await page.waitForSelector("#failure:not([hidden])");
  assert.match(await page.textContent("#failure"), /\[wire\.not-ours\]/);
});

browsed("everything has a label and is reached by keyboard", async () => {
  await page.reload();
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  const unnamed = await page.$$eval("input, select, textarea, progress", (found) =>
    found.filter((x) => x.labels.length === 0 && !x.ariaLabel).map((x) => x.outerHTML),
  );
  assert.deepEqual(unnamed, []);
  const reached = new Set();
  await page.evaluate(() => document.activeElement.blur());
  for (let i = 0; i < 30; i++) {
    await page.keyboard.press("Tab");
    reached.add(
      await page.evaluate(() => document.activeElement.id || document.activeElement.tagName),
    );
  }
  for (const id of ["SUMMARY", "token", "import", "export", "forget", "csv", "sample"]) {
    assert.ok(reached.has(id), `${id} is not reached: ${[...reached]}`);
  }
  // With the keyboard alone: connect, take the sample, see its schema.
  await page.focus("#token");
  await page.keyboard.type(service.token);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("connect-status").textContent);
  await page.focus("#sample");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#schema:not([hidden])");
  const kinds = await page.$$eval("#fields select", (found) => found.map((kind) => kind.value));
  assert.deepEqual(kinds, ["category", "decimal", "date", "boolean"]);
  assert.deepEqual(errors, [], "errors in the console");
});

browsed("a key of another tab is neither replaced nor forgotten, nor mixed up", async () => {
  const found = await page.evaluate(
    async ({ set, token }) => {
      const { Everlevel } = await import("/page/everlevel.js");
      const code = (work) =>
        work.then(
          () => null,
          (error) => error.code,
        );
      const id = async (of) => (await of.key()).keyId;
      // Each has a worker of its own, as a tab has.
      const [one, other] = [await Everlevel.start(), await Everlevel.start()];
      const codes = { same: (await id(one)) === (await id(other)) };
      await one.drawKey(set, { insecure: true });
      codes.drawn = await code(other.drawKey(set, { insecure: true }));
      await other.forgetKey();
      const third = await Everlevel.start();
      codes.stays = (await id(third)) === (await id(one));
      // The key is replaced while a table is sent: nothing is left of that.
      const names = Array.from({ length: 100 }, (_, i) => `c${i}`);
      const rows = [names, names.map((_, i) => i), names.map((_, i) => i + 2)];
      const csv = new TextEncoder().encode(rows.map((row) => `${row.join(",")}\n`).join(""));
      const before = await one.connect(token);
      const { schema } = await one.inferSchema(csv);
      let drawn = null;
      codes.sent = await code(
        one.uploadTable(csv, schema, "t.csv", ({ stage }) => {
          if (stage === "sending") drawn ??= one.drawKey(set, { insecure: true });
        }),
      );
      await drawn;
      codes.table = await one.table();
      const after = await one.connect(token);
      codes.left = after.objects - before.objects;
      for (const each of [one, other, third]) each.end();
      return codes;
    },
    { set: SET, token: service.token },
  );
  const expected = { same: true, drawn: "web.replaced", stays: true, sent: "web.replaced" };
  assert.deepEqual(found, { ...expected, table: null, left: 0 });
});

browsed("times are kept and compared", async () => {
  await page.reload();
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  await connect();
  const times = ["2026-01-31T12:00:00", "2026-01-31T12:00:01", "2026-02-01T00:00:00"];
  const text = `seen,n\n${times.map((at, i) => `${at},${i + 5}\n`).join("")}`;
  await page.setInputFiles("#csv", {
    name: "times.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(text),
  });
  await page.waitForSelector("#schema:not([hidden])");
  const kinds = await page.$$eval("#fields select", (found) => found.map((kind) => kind.value));
  assert.deepEqual(kinds, ["timestamp", "integer"]);
  await page.click("#schema > button");
  await page.waitForSelector("#ask:not([hidden])");
  await page.selectOption("#where", "seen");
  await page.selectOption("#operator", ">");
  await page.fill("#value", "2026-01-31 12:00:00");
  await page.waitForFunction(() =>
    /server keys/.test(document.getElementById("explained").textContent),
  );
  assert.deepEqual(await ask(), [["2", "13"]]);
});

browsed("former tables are deleted at the service", async () => {
  await page.click("#stored summary");
  const listed = await page.$$eval("#stored-tables li", (found) =>
    found.map((one) => one.textContent),
  );
  const shown = "times.csv, the table of this page: 3 rows";
  const here = listed.filter((told) => told.startsWith(shown));
  assert.ok(here.length === 1 && listed.length > 1, `${listed}`);
  await look("tables");
  for (let left = listed.length; left > 0; left--) {
    await page.click("#stored-tables li:first-child button");
    await page.waitForFunction(
      (fewer) => document.querySelectorAll("#stored-tables li").length === fewer,
      left - 1,
    );
  }
  assert.ok((await page.isHidden("#ask")) && (await page.isHidden("#stored")));
  const items = async (kind) => {
    const headers = { Authorization: `Bearer ${service.token}` };
    const answer = await fetch(`http://127.0.0.1:${service.port}/v1/${kind}`, { headers });
    return (await answer.json()).items;
  };
  assert.deepEqual(await items("tables"), []);
  // Keys for tables that were replaced may be of use to somebody.
  const kinds = (await items("objects")).map(({ kind }) => kind);
  assert.ok(kinds.every((kind) => kind === "server keys"), `${kinds}`);
});

browsed("what could not be sent is kept, and sent later", async () => {
  await page.exposeFunction("away", (is) => watched.leave(is));
  const found = await page.evaluate(
    async ({ set, token }) => {
      const { Everlevel } = await import("/page/everlevel.js");
      const code = (work) =>
        work.then(
          () => null,
          (error) => error.code,
        );
      const everlevel = await Everlevel.start();
      await everlevel.drawKey(set, { insecure: true, remember: false });
      const before = await everlevel.connect(token);
      const names = Array.from({ length: 100 }, (_, i) => `c${i}`);
      const rows = [names, names.map((_, i) => i), names.map((_, i) => i + 2)];
      const csv = new TextEncoder().encode(rows.map((row) => `${row.join(",")}\n`).join(""));
      const { schema } = await everlevel.inferSchema(csv);
      let [encrypted, drawn, left] = [0, 0, null];
      const upload = () =>
        everlevel.uploadTable(csv, schema, "t.csv", ({ stage, done }) => {
          if (stage === "encrypting") encrypted += 1;
          if (stage === "sending" && done > 0) left ??= window.away(true);
        });
      const ask = () =>
        everlevel.ask("select sum(c0) from t", {}, ({ stage, total }) => {
          if (stage === "keys" && total > 0) drawn += 1;
        });
      const said = { table: await code(upload()) };
      await left;
      await window.away(false);
      encrypted = 0;
      const table = await upload();
      Object.assign(said, { encrypted, rows: table.rows });
      await window.away(true);
      said.keys = await code(ask());
      await window.away(false);
      drawn = 0;
      said.answer = (await ask()).rows;
      said.drawn = drawn;
      await everlevel.deleteTable(table.id);
      said.left = (await everlevel.connect(token)).objects - before.objects;
      everlevel.end();
      return said;
    },
    { set: SET, token: service.token },
  );
  const away = "service.unreachable";
  const expected = { table: away, encrypted: 0, rows: 2, keys: away, answer: [["2"]] };
  assert.deepEqual(found, { ...expected, drawn: 0, left: 0 });
});
