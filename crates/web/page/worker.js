// The worker: the secret key is in its memory, in the private file system, and nowhere else.

import init, * as library from "./everlevel_web.js";
import { isPassing, pause, Refusal, Service } from "./service.js";
import * as storage from "./storage.js";

const KEY_FILE = "secret.key";
const STATE_FILE = "state.json";
// How many times in a row a job is asked for that may be answered later: about two minutes.
const PATIENCE = 20;
// Why an object is not deleted that is of no use to a table any more: another one is made of it, a
// job needs it, or it is not there.
const STAYING = ["service.conflict", "service.in-use", "service.not-found"];

let owner = null;
let service = null;
// The table that was uploaded last, and the queries that the service has keys for.
let state = { table: null, keys: [] };
let remembered = true;
// The hash of the stored key as it was seen here last: another tab may have replaced it.
let seen = null;
let job = null;
// What was encrypted or drawn and could not be sent: it goes on where it stopped.
let unsentTable = null;
let unsentKeys = null;
// Objects of deleted tables that are still to be deleted.
const leftover = new Set();
// Queries are bound again rather than stored.
const queries = new Map();

function needOwner() {
  if (!owner) throw new Refusal("draw or import a key first", "web.no-key");
  return owner;
}

function needService() {
  if (!service) throw new Refusal("connect to the service first", "service.unauthorized");
  return service;
}

function needTable() {
  if (!state.table) throw new Refusal("encrypt and upload a table first", "web.no-table");
  return state.table;
}

/** Refuses to go on with a key or a table that is not here any more. */
function need(begun) {
  if (state === begun) return;
  const told = "the key or the table was replaced meanwhile: begin again with the one that is here";
  throw new Refusal(told, "web.replaced");
}

/** The hash of the key that is stored; null if there is none. */
async function storedKey() {
  const file = await storage.read(KEY_FILE);
  const found = file?.length ? named(file) : null;
  file?.fill(0);
  return found;
}

const keyTold = () => (owner ? JSON.parse(owner.told()) : null);

async function saveState() {
  if (!remembered) return;
  const text = JSON.stringify({ ...state, keyId: keyTold().keyId });
  // Beside the key of another tab it would be lost, and that tab's table forgotten.
  if ((await storedKey()) !== seen) return;
  await storage.write(STATE_FILE, new TextEncoder().encode(text));
}

function clearQueries() {
  for (const query of queries.values()) query.free();
  queries.clear();
}

/** Forgets what could not be sent, which belonged to another key or table. */
async function dropUnsent() {
  const [table, keys] = [unsentTable, unsentKeys];
  unsentTable = unsentKeys = null;
  // Nobody waits for the service.
  if (table && service) takeBack(service, table.files);
  await keys?.file.close();
}

/** Says what becomes of what could not be sent. */
function kept(error, what, again) {
  return new Refusal(`${error.message}; ${what} are kept here: ${again}`, error.code);
}

/** Takes another key; what belonged to the former is forgotten. */
async function become(next, remember) {
  const file = remember ? next.file() : null;
  try {
    const found = await storedKey();
    if (found !== null && found !== seen) {
      const told =
        "another tab has stored another secret key meanwhile: load this page again, and export " +
        "that key before you replace it";
      throw new Refusal(told, "web.replaced");
    }
    // While the former key is here: storage may be full.
    if (file) await storage.write(KEY_FILE, file);
    else await storage.remove(KEY_FILE);
    seen = file && named(file);
  } catch (error) {
    next.free();
    throw error;
  } finally {
    file?.fill(0);
  }
  clearQueries();
  owner?.free();
  owner = next;
  state = { table: null, keys: [] };
  remembered = remember;
  await dropUnsent();
  // One that stays belongs to another key, and is not read.
  await storage.remove(STATE_FILE).catch(() => {});
  return keyTold();
}

/** The key and the table of an earlier visit. */
async function restore() {
  await storage.removeLeftovers();
  const file = await storage.read(KEY_FILE);
  if (!file) return;
  seen = named(file);
  owner = library.Owner.open(file, true);
  file.fill(0);
  const text = await storage.read(STATE_FILE);
  const found = text ? JSON.parse(new TextDecoder().decode(text)) : null;
  if (found?.keyId === keyTold().keyId) state = { table: found.table, keys: found.keys };
}

function bind(sql) {
  const { schema, rows } = needTable();
  if (!queries.has(sql)) {
    queries.set(sql, needOwner().query(sql, JSON.stringify(schema), rows));
  }
  return queries.get(sql);
}

/** The server keys of an earlier query that answer this one, too. */
async function keysFor(query, begun) {
  for (const { sql, object } of [...begun.keys]) {
    if (!query.isCoveredBy(bind(sql))) continue;
    const there = await needService().hasObject(object);
    need(begun);
    if (there) return object;
    begun.keys = begun.keys.filter((known) => known.object !== object);
  }
  return null;
}

/** Server keys in a file that stays open. */
async function drawnKeys(sql, query, begun, progress) {
  const file = await storage.temporary();
  try {
    need(begun);
    const drawn = (done, total) => progress({ stage: "keys", done, total });
    needOwner().drawServerKeys(query, file.write, drawn);
    const hash = new library.Hash();
    for (let at = 0; at < file.size(); at += 1 << 20) hash.update(file.read(at, 1 << 20));
    const object = hash.hex();
    hash.free();
    return { begun, sql, object, file };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Keys that could not be sent before, if they answer this query. */
async function keptKeys(query, begun) {
  const keys = unsentKeys;
  unsentKeys = null;
  if (!keys) return null;
  if (keys.begun === begun && query.isCoveredBy(bind(keys.sql))) return keys;
  await keys.file.close();
  return null;
}

async function drawKeys(sql, query, begun, progress) {
  need(begun);
  const keys = (await keptKeys(query, begun)) ?? (await drawnKeys(sql, query, begun, progress));
  const { object, file } = keys;
  try {
    const sent = (done, total) => progress({ stage: "sending keys", done, total });
    await needService().push(object, file.size(), file.read, sent);
    need(begun);
  } catch (error) {
    if (!isPassing(error) || state !== begun || unsentKeys) {
      await file.close();
      throw error;
    }
    unsentKeys = keys;
    throw kept(error, "the server keys", "ask again, and they are sent from where that stopped");
  }
  await file.close();
  begun.keys.push({ sql: keys.sql, object });
  await saveState();
  return object;
}

function named(bytes) {
  const hash = new library.Hash();
  hash.update(bytes);
  const id = hash.hex();
  hash.free();
  return id;
}

async function pushBytes(bytes, progress) {
  const id = named(bytes);
  await needService().push(id, bytes.length, (at, n) => bytes.subarray(at, at + n), progress);
  return id;
}

/** The files of a table, encrypted, and its schema. */
function encrypted(csv, schema, total, progress) {
  const files = [];
  progress({ stage: "encrypting", done: 0, total });
  const told = needOwner().encryptTable(csv, schema, (file, bytes) => {
    // A blob, which the browser may keep outside of memory.
    files.push({ file, id: named(bytes), blob: new Blob([bytes]) });
    progress({ stage: "encrypting", done: files.length, total });
  });
  return { files, told: JSON.parse(told) };
}

/** Takes back what was sent of a table that is not to be there: it counts against the quota. */
async function takeBack(sender, files) {
  for (const { id } of files) {
    const refused = await sender.deleteObject(id).catch((error) => error);
    if (refused && isPassing(refused)) break;
    if (refused?.code === "service.not-found") {
      // It has arrived in part or not at all, and those behind it were not sent.
      await sender.abandon(id).catch(() => {});
      break;
    }
  }
}

/** Waits for the end of a job, which says why it failed. */
async function finished(id, progress) {
  let failures = 0;
  for (;;) {
    let found;
    try {
      found = await needService().job(id);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (!isPassing(error) || failures === PATIENCE) throw error;
      progress({ stage: "waiting", done: 0, total: 0 });
      await pause(3000);
      continue;
    }
    if (found.error) throw new Refusal(found.error.message, found.error.code);
    if (found.state === "done") return found;
    const stage = found.state === "queued" ? "waiting" : "computing";
    progress({ stage, done: found.done, total: found.total });
  }
}

const methods = {
  /** Loads the module and what an earlier visit left; what is wrong with that, if anything. */
  async start() {
    await init();
    try {
      await restore();
      return null;
    } catch (error) {
      return error.message;
    }
  },

  sets: () => JSON.parse(library.sets()),
  key: keyTold,
  drawKey: ({ set, insecure = false, remember = true }) =>
    become(library.Owner.draw(set, insecure), remember),
  openKey: ({ file, insecure = false, remember = true }) =>
    become(library.Owner.open(file, insecure), remember),
  exportKey: () => needOwner().file(),

  async forgetKey() {
    clearQueries();
    owner?.free();
    owner = null;
    state = { table: null, keys: [] };
    await dropUnsent();
    // What another tab has stored meanwhile is not this one's to forget.
    const found = await storedKey();
    if (found !== null && found !== seen) return;
    await storage.remove(KEY_FILE);
    await storage.remove(STATE_FILE);
    seen = null;
  },

  encryptColumns({ columns }) {
    const each = (name) => columns.map((column) => column[name]);
    return needOwner().encryptColumns(each("name"), each("type"), each("values"));
  },
  decryptColumns: ({ bytes }) => JSON.parse(needOwner().decryptColumns(bytes)),

  inferSchema: ({ csv }) => JSON.parse(library.infer(csv)),
  distinct: ({ csv, column }) => library.distinct(csv, column),
  checkTable: ({ csv, schema }) => library.checkTable(csv, JSON.stringify(schema)),

  async connect({ token }) {
    const next = new Service(token);
    const usage = await next.usage();
    service = next;
    const known = state;
    if (known.table && !(await next.hasTable(known.table.id)) && state === known) {
      clearQueries();
      state = { table: null, keys: [] };
    }
    return usage;
  },

  table: () => state.table,

  async uploadTable({ csv, schema, name }, progress) {
    const [begun, sender] = [state, needService()];
    needOwner();
    const text = JSON.stringify(schema);
    const rows = library.checkTable(csv, text);
    if (remembered && (await storedKey()) !== seen) {
      const told =
        "another tab has replaced or forgotten the secret key that is stored: export the key of " +
        "this page if you need it, and load the page again";
      throw new Refusal(told, "web.replaced");
    }
    need(begun);
    const content = `${named(csv)} ${text}`;
    const former = unsentTable;
    unsentTable = null;
    const goesOn = former?.begun === begun && former.content === content;
    if (former && !goesOn) await takeBack(sender, former.files);
    need(begun);
    const total = needOwner().tableFiles(text, rows);
    const made = goesOn ? former : encrypted(csv, text, total, progress);
    Object.assign(made, { begun, content });
    const { files, told } = made;
    const bytes = files.reduce((sum, { blob }) => sum + blob.size, 0);
    const blocks = {};
    try {
      let before = 0;
      for (const { file, id, blob } of files) {
        const read = (at, n) => blob.slice(at, at + n);
        const sent = (done) => progress({ stage: "sending", done: before + done, total: bytes });
        await sender.push(id, blob.size, read, sent);
        blocks[file] = id;
        before += blob.size;
        need(begun);
      }
      const { id } = await sender.addTable({ texts: { "schema.json": told.text }, blocks });
      need(begun);
      const { table } = told;
      clearQueries();
      state = { table: { id, table, name, rows, bytes, schema: told.schema }, keys: [] };
    } catch (error) {
      if (!isPassing(error) || state !== begun) {
        // What a table is made of stays.
        await takeBack(sender, files);
        throw error;
      }
      unsentTable = made;
      const again = "send the table again, and that goes on where it stopped";
      throw kept(error, "the encrypted columns", again);
    }
    await saveState();
    return state.table;
  },

  /** All tables of the tenant at the service. */
  async tables() {
    const { items } = await needService().tables();
    const keyId = keyTold()?.keyId;
    return items.map(({ id, rows, columns, owner }) => {
      return { id, rows, columns, ofThisKey: owner === keyId };
    });
  },

  /** Deletes a table at the service, and what it is made of. */
  async deleteTable({ id }) {
    const sender = needService();
    const { blocks } = await sender.table(id);
    await sender.deleteTable(id);
    for (const object of Object.values(blocks)) leftover.add(object);
    if (state.table?.id === id) {
      // Other tables take server keys of their own.
      for (const { object } of state.keys) leftover.add(object);
      clearQueries();
      state = { table: null, keys: [] };
      await saveState();
    }
    for (const object of leftover) {
      await sender.deleteObject(object).catch((error) => {
        if (!STAYING.includes(error.code)) throw error;
      });
      leftover.delete(object);
    }
  },

  async explain({ sql }) {
    const query = bind(sql);
    const covered = state.keys.some((known) => query.isCoveredBy(bind(known.sql)));
    return { ...JSON.parse(query.told()), keysAreThere: covered };
  },

  async ask({ sql, constants }, progress) {
    const [begun, table] = [state, needTable()];
    const query = bind(sql);
    const { parameters } = JSON.parse(query.told());
    progress({ stage: "keys", done: 0, total: 0 });
    // A value that is none is found before keys are drawn.
    const names = parameters.map(({ name }) => name);
    const values = names.map((name) => constants[name] ?? "");
    const bound = names.length ? needOwner().encryptConstants(query, names, values) : null;
    let id = null;
    try {
      const keys = (await keysFor(query, begun)) ?? (await drawKeys(sql, query, begun, progress));
      need(begun);
      const request = { kind: "table", server_keys: keys, table: table.id };
      request.plan = query.plan();
      if (bound) request.constants = await pushBytes(bound.bytes);
      id = (await needService().startJob(request)).id;
      job = id;
      const done = await finished(id, progress);
      const fetched = (at, total) => progress({ stage: "fetching", done: at, total });
      const result = done.results.result;
      const bytes = await needService().fetch(result, fetched);
      if (named(bytes) !== result) {
        throw new Refusal("the result is not the one that was computed", "service.checksum");
      }
      need(begun);
      const answer = JSON.parse(needOwner().readResult(bytes, query, table.table, bound?.id));
      // The service need not keep what was read.
      await needService().deleteJob(id).catch(() => {});
      await needService().deleteObject(result).catch(() => {});
      if (bound) await needService().deleteObject(request.constants).catch(() => {});
      return { ...answer, seconds: done.seconds };
    } finally {
      bound?.free();
      if (job === id) job = null;
    }
  },

  async cancel() {
    if (job) await needService().cancel(job);
  },
};

self.onmessage = async ({ data: { call, method, args } }) => {
  try {
    const value = await methods[method](args, (progress) => postMessage({ call, progress }));
    postMessage({ call, value });
  } catch (error) {
    const ended = error instanceof WebAssembly.RuntimeError;
    const message = ended ? "the library ended unexpectedly: please report this" : error.message;
    postMessage({
      call,
      error: { message, code: ended ? "web.ended" : (error.code ?? "web.browser") },
    });
  }
};
