// A service on this machine, what its clients send, and a Chromium.

import { spawn, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import net from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

const { EVERLEVEL_CHROMIUM, EVERLEVEL_NODE, EVERLEVEL_PAGE, EVERLEVEL_PROGRAM } = process.env;

/** Why nothing can be driven here; null if it can. */
export const missing =
  [
    ["EVERLEVEL_CHROMIUM", "no Chromium"],
    ["EVERLEVEL_NODE", "no playwright-core"],
    ["EVERLEVEL_PAGE", "no page was built"],
    ["EVERLEVEL_PROGRAM", "no program"],
  ].find(([name]) => !process.env[name])?.[1] ?? null;

const SWITCHES = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // Nothing but this machine has an address.
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
];

/** A directory that is gone at the end. */
export function scratch() {
  const directory = mkdtempSync(path.join(tmpdir(), "everlevel-web-"));
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) };
}

export const everlevel = (...args) => execFileSync(EVERLEVEL_PROGRAM, args, { encoding: "utf8" });

/** A service that hands out the page, with a token of a tenant. */
export async function serve(directory) {
  const dir = path.join(directory, "service");
  const token = everlevel("serve", "token", "add", "--dir", dir, "--tenant", "acme").trim();
  const args = [
    "serve",
    "--insecure-research",
    "--dir",
    dir,
    "--page",
    EVERLEVEL_PAGE,
    "--listen",
    "127.0.0.1:0",
  ];
  const child = spawn(EVERLEVEL_PROGRAM, args, { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      const found = /serving at http:\/\/127\.0\.0\.1:(\d+)/.exec(text);
      if (found) resolve(Number(found[1]));
    });
    child.on("exit", (code) => reject(new Error(`the service ended with ${code}`)));
  });
  const end = () =>
    new Promise((resolve) => {
      child.removeAllListeners("exit").on("exit", resolve);
      child.kill("SIGTERM");
    });
  return { token, port, end };
}

/** Stands before a service, keeps every byte that clients send, and can be away. */
export async function watch(port) {
  const sent = [];
  const clients = new Set();
  let away = false;
  const server = net.createServer((client) => {
    client.on("error", () => {});
    if (away) {
      client.destroy();
      return;
    }
    clients.add(client);
    const service = net.connect(port, "127.0.0.1");
    client.on("close", () => {
      clients.delete(client);
      service.destroy();
    });
    client.on("data", (bytes) => sent.push(bytes));
    client.pipe(service);
    service.pipe(client);
    for (const [one, other] of [
      [client, service],
      [service, client],
    ]) {
      one.on("error", () => other.destroy());
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${server.address().port}`;
  const leave = (is) => {
    away = is;
    if (away) for (const client of clients) client.destroy();
  };
  return { url, sent: () => Buffer.concat(sent), leave, end: () => server.close() };
}

/** A Chromium without a profile. */
export function browser() {
  const { chromium } = createRequire(path.join(EVERLEVEL_NODE, "here.js"))("playwright-core");
  return chromium.launch({
    executablePath: EVERLEVEL_CHROMIUM,
    headless: true,
    args: SWITCHES,
    timeout: 300_000,
  });
}
