/** An error of the library or of the service, with the stable code of docs/errors.md. */
export class EverlevelError extends Error {
  readonly code: string;
}

export interface ParameterSet {
  name: string;
  /** Whether it has less than 128 bits of security: for trying out only. */
  insecure: boolean;
}

/** What may be shown of a secret key. */
export interface Key {
  set: string;
  insecure: boolean;
  slots: number;
  keyId: string;
}

/**
 * Bounds are texts, since integers of 63 bits are no numbers of JavaScript. A column with an
 * `index` takes more room, and conditions on it take fewer products.
 */
export type Column =
  | {
      name: string;
      nullable?: boolean;
      index?: boolean;
      type: "integer";
      low: string;
      high: string;
    }
  | {
      name: string;
      nullable?: boolean;
      index?: boolean;
      type: "decimal";
      scale: number;
      low: string;
      high: string;
    }
  | {
      name: string;
      nullable?: boolean;
      index?: boolean;
      type: "date";
      low: string;
      high: string;
    }
  | {
      name: string;
      nullable?: boolean;
      index?: boolean;
      type: "timestamp";
      unit: "s" | "ms" | "us";
      utc?: boolean;
      low: string;
      high: string;
    }
  | { name: string; nullable?: boolean; type: "boolean" }
  | { name: string; nullable?: boolean; index?: boolean; type: "category"; values: string[] };

export interface Schema {
  columns: Column[];
}

export interface Inferred {
  schema: Schema;
  /** For each column what it was taken for, or why it was left out. */
  notes: { column: string; told: string; kept: boolean }[];
}

export interface Table {
  /** The name that the service has for it. */
  id: string;
  /** The public name of the encryption. */
  table: string;
  name: string;
  rows: number;
  bytes: number;
  schema: Schema;
}

/** A table of the tenant at the service. */
export interface StoredTable {
  id: string;
  rows: number;
  columns: number;
  /** Whether it is encrypted under the key that is here. */
  ofThisKey: boolean;
}

export interface Explained {
  /** Bytes of the server keys that the query takes. */
  keyBytes: number;
  /** Whether the service has these keys already. */
  keysAreThere: boolean;
  bootstraps: boolean;
  /** Constants that the query calls by `:name` and that the service will not see. */
  parameters: { name: string; column: string; expected: string }[];
}

export interface Answer {
  names: string[];
  types: {
    type: "integer" | "decimal" | "date" | "timestamp" | "boolean" | "text";
    scale?: number;
    unit?: "s" | "ms" | "us";
    utc?: boolean;
  }[];
  rows: (string | null)[][];
  /** Seconds that the service computed. */
  seconds: number;
}

export interface Progress {
  stage: "encrypting" | "sending" | "keys" | "sending keys" | "waiting" | "computing" | "fetching";
  done: number;
  total: number;
}

export type Values = Iterable<number | bigint | boolean>;

/**
 * The owner of encrypted data. The secret key is drawn and kept in the worker, in the memory of the
 * WebAssembly module and, unless `remember` is false, in the private file system of the origin.
 * Every method rejects with an `EverlevelError`.
 */
export class Everlevel {
  static start(): Promise<Everlevel>;
  /** Why the key of an earlier visit could not be opened, if there is one. */
  readonly problem: string | null;
  sets(): Promise<ParameterSet[]>;

  /** The key that is there, if any. */
  key(): Promise<Key | null>;
  drawKey(set: string, options?: { insecure?: boolean; remember?: boolean }): Promise<Key>;
  /** Takes the bytes of a file of a secret key, such as `everlevel keygen` writes. */
  openKey(file: Uint8Array, options?: { insecure?: boolean; remember?: boolean }): Promise<Key>;
  /** The bytes of a file of the secret key: whoever has them decrypts everything. */
  exportKey(): Promise<Uint8Array>;
  forgetKey(): Promise<void>;

  /** Encrypts columns of `bool`, `u8` to `i64` or `LOW..HIGH`, into an object for the service. */
  encryptColumns(columns: Record<string, { type: string; values: Values }>): Promise<Uint8Array>;
  decryptColumns(bytes: Uint8Array): Promise<Record<string, bigint[]>>;

  inferSchema(csv: Uint8Array): Promise<Inferred>;
  /** The different texts of a column. */
  distinct(csv: Uint8Array, column: string): Promise<string[]>;
  /** How many rows a table has, if all of its cells fit the schema. */
  checkTable(csv: Uint8Array, schema: Schema): Promise<number>;

  /** Uses the service that this module comes from, with a token. */
  connect(token: string): Promise<{ bytes: number; most_bytes: number; objects: number }>;
  /** The table that was uploaded last under this key, if any. */
  table(): Promise<Table | null>;
  /**
   * Encrypts and sends a table. What was encrypted is kept if the service cannot be reached: the
   * same call goes on where that stopped.
   */
  uploadTable(
    csv: Uint8Array,
    schema: Schema,
    name: string,
    progress?: (at: Progress) => void,
  ): Promise<Table>;
  /** All tables of the tenant at the service, also those that were sent from elsewhere. */
  tables(): Promise<StoredTable[]>;
  /** Deletes a table at the service and what it is made of, unless a job needs it. */
  deleteTable(id: string): Promise<void>;
  /** What a query on that table takes, before it is run. */
  explain(sql: string): Promise<Explained>;
  ask(
    sql: string,
    constants: Record<string, string>,
    progress?: (at: Progress) => void,
  ): Promise<Answer>;
  /** Cancels the job of the query that is running. */
  cancel(): Promise<void>;
  end(): void;
}
