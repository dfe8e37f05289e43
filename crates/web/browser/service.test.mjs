// What the page does about answers that are lost, late or refused, without a browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, test } from "node:test";

// By its text: outside of a browser the end of its name does not say what it is.
const text = readFileSync(new URL("../page/service.js", import.meta.url)).toString("base64");
const { isPassing, Service } = await import(`data:text/javascript;base64,${text}`);

const { fetch, setTimeout } = globalThis;
const service = new Service("token");
let answers, asked;

/** An answer that never arrives. */
const LOST = null;
const refused = (status, code) => [status, { error: { code, message: code } }];

beforeEach(() => {
  asked = [];
  globalThis.fetch = async (path, { method }) => {
    asked.push(`${method} ${path}`);
    const answer = answers.shift();
    if (answer === LOST) throw new TypeError("network error");
    const [status, value] = answer;
    const arrayBuffer = async () => new Uint8Array(value).buffer;
    return { ok: status < 300, status, json: async () => value, arrayBuffer };
  };
  // Nobody waits.
  globalThis.setTimeout = (work) => queueMicrotask(work);
});

afterEach(() => {
  Object.assign(globalThis, { fetch, setTimeout });
});

const push = () => service.push("id", 3, (at, n) => new Uint8Array(3).subarray(at, at + n));

test("an upload goes on where the service says it is", async () => {
  answers = [
    [200, { offset: 0, complete: false }],
    LOST,
    refused(409, "service.offset"),
    [200, { offset: 2, complete: false }],
    refused(408, "service.timeout"),
    [200, { offset: 3, complete: false }],
    refused(409, "service.conflict"),
    [200, { offset: 3, complete: false }],
    [200, { offset: 3, complete: true }],
  ];
  await push();
  assert.deepEqual(answers, []);
  const sent = asked.filter((head) => head.startsWith("PUT"));
  const places = sent.map((head) => Number(head.split("offset=")[1]));
  assert.deepEqual(places, [0, 0, 2, 3, 3]);
});

test("an upload that stands still is given up, and can be sent later", async () => {
  const still = [200, { offset: 0, complete: false }];
  answers = [still];
  for (let i = 0; i < 10; i++) answers.push(refused(409, "service.conflict"), still);
  await assert.rejects(push(), (error) => isPassing(error) && error.code === "service.unreachable");
  assert.deepEqual(answers, []);
});

test("a refusal is not tried again", async () => {
  answers = [refused(429, "service.quota")];
  await assert.rejects(push(), { code: "service.quota" });
  assert.equal(asked.length, 1);
});

test("a removal whose answer was lost has happened", async () => {
  answers = [LOST, refused(404, "service.not-found")];
  await service.deleteTable("id");
  assert.deepEqual(asked, ["DELETE /v1/tables/id", "DELETE /v1/tables/id"]);
  answers = [refused(404, "service.not-found")];
  await assert.rejects(service.deleteTable("id"), { code: "service.not-found" });
});

test("a download goes on part by part", async () => {
  answers = [[200, { bytes: 3 }], [200, [1, 2]], [503, {}], LOST, [200, [3]]];
  assert.deepEqual([...(await service.fetch("id"))], [1, 2, 3]);
  assert.ok(asked.at(-1).endsWith("offset=2"));
});
