// Files in the private file system of the origin: nothing but pages of this origin reads them.

const directory = () => navigator.storage.getDirectory();

/** The bytes of a file; null if it is not there. */
export async function read(name) {
  try {
    const handle = await (await directory()).getFileHandle(name);
    return new Uint8Array(await (await handle.getFile()).arrayBuffer());
  } catch (error) {
    if (error.name === "NotFoundError") return null;
    throw error;
  }
}

/** Writes a file, which is there in full or not at all. */
export async function write(name, bytes) {
  const handle = await (await directory()).getFileHandle(name, { create: true });
  const stream = await handle.createWritable();
  await stream.write(bytes);
  await stream.close();
}

/** Removes a file, if it is there. */
export async function remove(name) {
  try {
    await (await directory()).removeEntry(name);
  } catch (error) {
    if (error.name !== "NotFoundError") throw error;
  }
}

const PART = ".part";

/** Removes what pages left that were closed while they worked. */
export async function removeLeftovers() {
  for await (const name of (await directory()).keys()) {
    // One that another page has open stays.
    if (name.endsWith(PART)) await remove(name).catch(() => {});
  }
}

/** A file for what is made in pieces, gone when it is closed. */
export async function temporary() {
  const name = crypto.randomUUID() + PART;
  const handle = await (await directory()).getFileHandle(name, { create: true });
  const file = await handle.createSyncAccessHandle();
  return {
    write(at, bytes) {
      if (file.write(bytes, { at }) !== bytes.length) throw new Error("the file system is full");
    },
    read(at, length) {
      const part = new Uint8Array(Math.min(length, file.getSize() - at));
      file.read(part, { at });
      return part;
    },
    size: () => file.getSize(),
    async close() {
      file.close();
      await remove(name);
    },
  };
}
