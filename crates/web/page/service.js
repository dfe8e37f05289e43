// The routes of the service that this page came from.

const TRIES = 5;
const PART_BYTES = 4 << 20;
// What an upload is told whose part was sent twice, as its answer was lost, or whose part is still
// being stored: the service says how far it is.
const STANDING = ["service.offset", "service.conflict", "service.timeout"];
// The most of these answers in a row, which take about a minute.
const STANDSTILLS = 10;
const LONGEST_PAUSE = 10_000;

/** What the service refused, with its code, and how many times it was asked. */
export class Refusal extends Error {
  constructor(message, code, tries = 1) {
    super(message);
    this.code = code;
    this.tries = tries;
  }
}

const PASSING = ["service.unreachable", "service.unavailable", "service.timeout"];

/** Whether the same may go well later. */
export const isPassing = (error) => PASSING.includes(error.code);

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const json = (answer) => answer.json();
const bytes = async (answer) => new Uint8Array(await answer.arrayBuffer());
const nothing = () => null;

export class Service {
  #token;

  constructor(token) {
    this.#token = token;
  }

  /** Sends a request until its answer has arrived in full, which `read` reads. */
  async #request(method, path, read, body = undefined, headers = {}) {
    for (let tries = 1; ; tries++) {
      let problem = "it does not answer";
      try {
        const answer = await fetch(path, {
          method,
          body,
          headers: { Authorization: `Bearer ${this.#token}`, ...headers },
          redirect: "error",
        });
        if (answer.ok) return await read(answer);
        if (![502, 503, 504].includes(answer.status) || tries === TRIES) {
          const { error } = await answer.json().catch(() => ({}));
          const message = error?.message ?? `the service answered with status ${answer.status}`;
          throw new Refusal(message, error?.code ?? "service.unreachable", tries);
        }
        problem = `it answers with status ${answer.status}`;
      } catch (error) {
        if (error instanceof Refusal) throw error;
        if (tries === TRIES) {
          const told = `the service cannot be reached: ${problem}`;
          throw new Refusal(told, "service.unreachable", tries);
        }
      }
      await pause(100 * 2 ** tries);
    }
  }

  #json(method, path, body = undefined, headers = {}) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const typed = text === undefined ? headers : { "Content-Type": "application/json", ...headers };
    return this.#request(method, path, json, text, typed);
  }

  async #delete(path) {
    try {
      await this.#request("DELETE", path, nothing);
    } catch (error) {
      // The answer to an earlier try was lost.
      if (error.code !== "service.not-found" || error.tries === 1) throw error;
    }
  }

  usage() {
    return this.#json("GET", "/v1/usage");
  }
  addTable(table) {
    return this.#json("POST", "/v1/tables", table);
  }
  tables() {
    return this.#json("GET", "/v1/tables");
  }
  table(id) {
    return this.#json("GET", `/v1/tables/${id}`);
  }
  estimate(request) {
    return this.#json("POST", "/v1/estimates", request);
  }
  cancel(job) {
    return this.#json("POST", `/v1/jobs/${job}/cancel`, null);
  }

  /** `plan` is JSON: the bounds in it may have more digits than numbers of JavaScript. */
  startJob({ plan, ...request }) {
    const text = `${JSON.stringify(request).slice(0, -1)},"plan":${plan}}`;
    const headers = {
      "Content-Type": "application/json",
      "Idempotency-Key": crypto.randomUUID(),
    };
    return this.#request("POST", "/v1/jobs", json, text, headers);
  }

  /** A job: as soon as it ends, or as it is in a second. */
  job(id) {
    return this.#json("GET", `/v1/jobs/${id}?wait=1`);
  }

  async #exists(path) {
    try {
      await this.#json("GET", path);
      return true;
    } catch (error) {
      if (error.code === "service.not-found") return false;
      throw error;
    }
  }

  hasObject(id) {
    return this.#exists(`/v1/objects/${id}`);
  }
  hasTable(id) {
    return this.#exists(`/v1/tables/${id}`);
  }
  deleteObject(id) {
    return this.#delete(`/v1/objects/${id}`);
  }
  deleteTable(id) {
    return this.#delete(`/v1/tables/${id}`);
  }
  deleteJob(id) {
    return this.#delete(`/v1/jobs/${id}`);
  }
  /** Gives up an upload that is not complete. */
  abandon(id) {
    return this.#delete(`/v1/uploads/${id}`);
  }

  /** Sends bytes, unless the service has them. `read(at, length)` gives a part. */
  async push(id, length, read, progress = () => {}) {
    const announce = () => this.#json("POST", "/v1/uploads", { id, bytes: length });
    let state = await announce();
    let still = 0;
    while (!state.complete) {
      const { offset } = state;
      progress(offset, length);
      const part = await read(offset, PART_BYTES);
      try {
        state = await this.#request("PUT", `/v1/uploads/${id}?offset=${offset}`, json, part);
      } catch (error) {
        if (!STANDING.includes(error.code)) throw error;
        await pause(Math.min(200 * 2 ** still, LONGEST_PAUSE));
        state = await announce();
      }
      still = state.offset > offset ? 0 : still + 1;
      if (still === STANDSTILLS && !state.complete) {
        const told = `an upload does not get beyond byte ${offset} at the service`;
        throw new Refusal(told, "service.unreachable");
      }
    }
    progress(length, length);
  }

  /** The bytes of an object; that they are what its name says is for the caller to see. */
  async fetch(id, progress = () => {}) {
    const { bytes: length } = await this.#json("GET", `/v1/objects/${id}`);
    const out = new Uint8Array(length);
    for (let at = 0; at < length;) {
      progress(at, length);
      const part = await this.#request("GET", `/v1/objects/${id}/content?offset=${at}`, bytes);
      if (part.length === 0 || part.length > length - at) break;
      out.set(part, at);
      at += part.length;
    }
    return out;
  }
}
