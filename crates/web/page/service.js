// The routes of the service that this page came from.

const TRIES = 5;
const PART_BYTES = 4 << 20;

/** What the service refused, with its code. */
export class Refusal extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class Service {
  #token;

  constructor(token) {
    this.#token = token;
  }

  /** Sends a request until it is answered. */
  async #request(method, path, body = undefined, headers = {}) {
    for (let tries = 1; ; tries++) {
      let problem = "it does not answer";
      try {
        const answer = await fetch(path, {
          method,
          body,
          headers: { Authorization: `Bearer ${this.#token}`, ...headers },
          redirect: "error",
        });
        if (answer.ok) return answer;
        if (![502, 503, 504].includes(answer.status) || tries === TRIES) {
          const { error } = await answer.json().catch(() => ({}));
          const message = error?.message ?? `the service answered with status ${answer.status}`;
          throw new Refusal(message, error?.code ?? "service.unreachable");
        }
        problem = `it answers with status ${answer.status}`;
      } catch (error) {
        if (error instanceof Refusal) throw error;
        if (tries === TRIES) {
          throw new Refusal(`the service cannot be reached: ${problem}`, "service.unreachable");
        }
      }
      await pause(100 * 2 ** tries);
    }
  }

  async #json(method, path, body = undefined, headers = {}) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const typed = text === undefined ? headers : { "Content-Type": "application/json", ...headers };
    return (await this.#request(method, path, text, typed)).json();
  }

  usage() {
    return this.#json("GET", "/v1/usage");
  }
  addTable(table) {
    return this.#json("POST", "/v1/tables", table);
  }
  estimate(request) {
    return this.#json("POST", "/v1/estimates", request);
  }
  cancel(job) {
    return this.#json("POST", `/v1/jobs/${job}/cancel`, null);
  }

  /** `plan` is JSON: the bounds in it may have more digits than numbers of JavaScript. */
  async startJob({ plan, ...request }) {
    const text = `${JSON.stringify(request).slice(0, -1)},"plan":${plan}}`;
    const headers = {
      "Content-Type": "application/json",
      "Idempotency-Key": crypto.randomUUID(),
    };
    return (await this.#request("POST", "/v1/jobs", text, headers)).json();
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
  async deleteObject(id) {
    await this.#request("DELETE", `/v1/objects/${id}`);
  }
  async deleteJob(id) {
    await this.#request("DELETE", `/v1/jobs/${id}`);
  }

  /** Sends bytes, unless the service has them. `read(at, length)` gives a part. */
  async push(id, bytes, read, progress = () => {}) {
    let state = await this.#json("POST", "/v1/uploads", { id, bytes });
    while (!state.complete) {
      progress(state.offset, bytes);
      const part = await read(state.offset, PART_BYTES);
      const path = `/v1/uploads/${id}?offset=${state.offset}`;
      try {
        state = await (await this.#request("PUT", path, part)).json();
      } catch (error) {
        // A part that was sent twice, as its answer was lost.
        if (error.code !== "service.offset") throw error;
        state = await this.#json("POST", "/v1/uploads", { id, bytes });
      }
    }
    progress(bytes, bytes);
  }

  /** The bytes of an object; that they are what its name says is for the caller to see. */
  async fetch(id, progress = () => {}) {
    const { bytes } = await this.#json("GET", `/v1/objects/${id}`);
    const out = new Uint8Array(bytes);
    for (let at = 0; at < bytes;) {
      progress(at, bytes);
      const answer = await this.#request("GET", `/v1/objects/${id}/content?offset=${at}`);
      const part = new Uint8Array(await answer.arrayBuffer());
      if (part.length === 0 || part.length > bytes - at) break;
      out.set(part, at);
      at += part.length;
    }
    return out;
  }
}
