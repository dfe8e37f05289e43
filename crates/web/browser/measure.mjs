// Seconds of keys, encryption and decryption in Chromium, and of the program beside it.
//
//   .ci/web measure [SET]

import { writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

import { browser, everlevel, missing, scratch, serve } from "./support.mjs";

if (missing) {
  console.log(`skipped: ${missing}`);
  process.exit(0);
}
const set = process.argv[2] ?? "bgv-65537-n15";
const insecure = set.startsWith("insecure_");
const RUNS = 3;
const seconds = (times) => [...times].sort((a, b) => a - b)[times.length >> 1].toFixed(2);

const place = scratch();
const service = await serve(place.directory);
const chromium = await browser();
try {
  console.log(`Chromium ${chromium.version()}, ${os.cpus()[0].model}, ${os.cpus().length} cores`);
  const page = await chromium.newPage();
  page.setDefaultTimeout(0);
  await page.goto(`http://127.0.0.1:${service.port}/`);
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  const found = await page.evaluate(
    async ({ set, insecure, runs, token }) => {
      const { Everlevel } = await import("/page/everlevel.js");
      const everlevel = await Everlevel.start();
      const times = {};
      const timed = async (name, work) => {
        const began = performance.now();
        const done = await work();
        (times[name] ??= []).push((performance.now() - began) / 1000);
        return done;
      };
      let slots = 0;
      for (let run = 0; run < runs; run++) {
        const options = { insecure, remember: false };
        ({ slots } = await timed("secret key", () => everlevel.drawKey(set, options)));
        const values = Array.from({ length: slots }, (_, i) => (i * 40503) % 65536);
        const columns = { x: { type: "u16", values } };
        const bytes = await timed("encrypt", () => everlevel.encryptColumns(columns));
        const { x } = await timed("decrypt", () => everlevel.decryptColumns(bytes));
        if (!x.every((value, i) => value === BigInt(values[i]))) throw new Error("wrong values");
      }
      await everlevel.drawKey(set, { insecure, remember: false });
      await everlevel.connect(token);
      const csv = await (await fetch("/page/sample.csv")).arrayBuffer();
      const { schema } = await everlevel.inferSchema(new Uint8Array(csv));
      await everlevel.uploadTable(new Uint8Array(csv), schema, "sample.csv", () => {});
      const sql = "select region, sum(amount) from t group by region";
      const { keyBytes } = await timed("plan of a query", () => everlevel.explain(sql));
      let [first, last] = [0, 0];
      await everlevel.ask(sql, {}, ({ stage, total }) => {
        if (stage !== "keys" || total === 0) return;
        first ||= performance.now();
        last = performance.now();
      });
      return { times, slots, keyBytes, keySeconds: (last - first) / 1000 };
    },
    { set, insecure, runs: RUNS, token: service.token },
  );
  console.log(`${set}, medians of ${RUNS} runs, ${found.slots} values of u16:`);
  for (const [name, times] of Object.entries(found.times)) {
    console.log(`  ${name.padEnd(20)} ${seconds(times)} s in Chromium`);
  }
  const megabytes = (found.keyBytes / 1e6).toFixed(0);
  console.log(
    `  ${"server keys".padEnd(20)} ${found.keySeconds.toFixed(2)} s in Chromium, ${megabytes} MB`,
  );

  // The program: each time with its start and its files.
  const at = (name) => path.join(place.directory, name);
  const values = Array.from({ length: found.slots }, (_, i) => (i * 40503) % 65536);
  writeFileSync(at("x.csv"), `x\n${values.join("\n")}\n`);
  const research = insecure ? ["--insecure-research"] : [];
  everlevel(
    "keygen",
    "--params",
    set,
    ...research,
    "--plan",
    plan(),
    "--rows",
    "200",
    "--out",
    at("keys"),
  );
  const native = { encrypt: [], decrypt: [] };
  for (let run = 0; run < RUNS; run++) {
    const began = performance.now();
    everlevel(
      "encrypt",
      ...research,
      "--key",
      at("keys/secret.key"),
      "--in",
      at("x.csv"),
      "--types",
      "x=u16",
      "--out",
      at("x.ct"),
      "--force",
    );
    const middle = performance.now();
    everlevel(
      "decrypt",
      ...research,
      "--key",
      at("keys/secret.key"),
      "--in",
      at("x.ct"),
      "--out",
      at("y.csv"),
      "--force",
    );
    native.encrypt.push((middle - began) / 1000);
    native.decrypt.push((performance.now() - middle) / 1000);
  }
  for (const [name, times] of Object.entries(native)) {
    console.log(`  ${name.padEnd(20)} ${seconds(times)} s by the program`);
  }
  const began = performance.now();
  everlevel(
    "keys",
    "server",
    ...research,
    "--key",
    at("keys/secret.key"),
    "--plan",
    at("q.plan"),
    "--rows",
    "200",
    "--out",
    at("few.keys"),
  );
  const took = ((performance.now() - began) / 1000).toFixed(2);
  console.log(`  ${"server keys".padEnd(20)} ${took} s by the program`);

  function plan() {
    everlevel(
      "table",
      "schema",
      "infer",
      "--in",
      "cli/data/orders.csv",
      "--out",
      at("schema.json"),
    );
    everlevel(
      "table",
      "ask",
      "--schema",
      at("schema.json"),
      "select region, sum(amount) from t group by region",
      "--out",
      at("q.plan"),
    );
    return at("q.plan");
  }
} finally {
  await chromium.close();
  await service.end();
  place.remove();
}
