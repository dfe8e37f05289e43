// The owner of encrypted data, in a Web Worker: keys, encryption, decryption, and the service.
// Types are in everlevel.d.ts.

/** An error of the library or of the service, with the stable code of docs/errors.md. */
export class EverlevelError extends Error {
  constructor(message, code) {
    super(message);
    this.name = "EverlevelError";
    this.code = code;
  }
}

/** Values as the library takes them: decimal integers that commas divide. */
function written(name, values) {
  const texts = Array.from(values, (value) => {
    const whole = typeof value === "bigint" || Number.isSafeInteger(value);
    if (!whole && typeof value !== "boolean") {
      const found = JSON.stringify(value) ?? String(value);
      throw new EverlevelError(
        `column ${name}: expected integers of 53 bits, bigints or truth values, found ${found}`,
        "integers.value",
      );
    }
    return String(typeof value === "boolean" ? Number(value) : value);
  });
  return texts.join(",");
}

export class Everlevel {
  #worker;
  #calls = new Map();
  #last = 0;
  problem = null;

  constructor() {
    this.#worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.#worker.onmessage = ({ data }) => this.#receive(data);
    this.#worker.onerror = () => {
      const ended = new EverlevelError(
        "the library could not be started in this browser",
        "web.ended",
      );
      for (const call of this.#calls.values()) call.reject(ended);
      this.#calls.clear();
    };
  }

  /** Starts the worker and loads the module. */
  static async start() {
    const everlevel = new Everlevel();
    everlevel.problem = await everlevel.#call("start");
    return everlevel;
  }

  #receive({ call, progress, value, error }) {
    const waiting = this.#calls.get(call);
    if (!waiting) return;
    if (progress) return waiting.progress?.(progress);
    this.#calls.delete(call);
    if (error) waiting.reject(new EverlevelError(error.message, error.code));
    else waiting.resolve(value);
  }

  #call(method, args = {}, progress = undefined) {
    const call = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#calls.set(call, { resolve, reject, progress });
      this.#worker.postMessage({ call, method, args });
    });
  }

  sets() {
    return this.#call("sets");
  }
  key() {
    return this.#call("key");
  }
  drawKey(set, options = {}) {
    return this.#call("drawKey", { set, ...options });
  }
  openKey(file, options = {}) {
    return this.#call("openKey", { file, ...options });
  }
  exportKey() {
    return this.#call("exportKey");
  }
  forgetKey() {
    return this.#call("forgetKey");
  }

  encryptColumns(columns) {
    const listed = Object.entries(columns).map(([name, { type, values }]) => ({
      name,
      type,
      values: written(name, values),
    }));
    return this.#call("encryptColumns", { columns: listed });
  }

  async decryptColumns(bytes) {
    const columns = await this.#call("decryptColumns", { bytes });
    return Object.fromEntries(columns.map(([name, values]) => [name, values.map(BigInt)]));
  }

  inferSchema(csv) {
    return this.#call("inferSchema", { csv });
  }
  distinct(csv, column) {
    return this.#call("distinct", { csv, column });
  }
  checkTable(csv, schema) {
    return this.#call("checkTable", { csv, schema });
  }

  connect(token) {
    return this.#call("connect", { token });
  }
  table() {
    return this.#call("table");
  }

  uploadTable(csv, schema, name, progress) {
    return this.#call("uploadTable", { csv, schema, name }, progress);
  }
  tables() {
    return this.#call("tables");
  }
  deleteTable(id) {
    return this.#call("deleteTable", { id });
  }

  explain(sql) {
    return this.#call("explain", { sql });
  }
  ask(sql, constants, progress) {
    return this.#call("ask", { sql, constants }, progress);
  }
  cancel() {
    return this.#call("cancel");
  }

  /** Ends the worker; what the module has in memory is gone. */
  end() {
    this.#worker.terminate();
  }
}
