import { randomInt } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { StorageError } from '../errors/errors.ts';

/** The ending of the name of a folder in which another one is made. */
export const UNFINISHED = '.partial';

/** Node throws on a single write of more than 2 GiB. */
const LARGEST_WRITE = 2 ** 30;

/** Numbers that distinguish temporary files, also between machines that share a folder. */
const TEMPORARY_NUMBERS = 2 ** 47;

/** The bits of a file's mode that are not its kind. */
const PERMISSIONS = 0o7777;

function readErrorCode(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** Does file work. @throws StorageError with the path, if the system reports an error. */
function runNamingPath<T>(action: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof StorageError) throw error;
    throw new StorageError(action, path, { cause: error });
  }
}

/** The file at a path, or the link itself, not its target; null if the path does not exist. */
function readStats(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null;
}

function refuseLink(action: string, path: string): void {
  if (readStats(path)?.isSymbolicLink() !== true) return;
  const cause = new Error('it is a symbolic link, which is not followed');
  throw new StorageError(action, path, { cause, remedy: 'remove the link' });
}

/**
 * Refuses a symbolic link at a path and, up to `root`, above it. The root is a folder that the user names, and may be a link.
 *
 * @throws StorageError naming the link.
 */
export function assertNoLink(path: string, root: string = dirname(path)): void {
  let location = root;
  for (const part of relative(root, path).split(sep)) {
    location = join(location, part);
    runNamingPath('use', location, () => refuseLink('use', location));
  }
}

/**
 * Makes a folder and its parents. Node's recursive `mkdirSync` never returns if the system denies that an existing folder exists, as Linux does within /proc.
 *
 * @throws StorageError.
 */
export function makeFolder(path: string): void {
  runNamingPath('make folder', path, () => makeMissing(path));
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function makeMissing(path: string): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeMissing(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    if (readErrorCode(error) !== 'EEXIST' || !isFolder(path)) throw error; // another process may have made the folder
  }
}

/**
 * Writes the names in a folder to the disk. Without it a file that was made, renamed or deleted may have its earlier name after a power failure.
 *
 * @throws StorageError.
 */
export function syncFolder(path: string): void {
  runNamingPath('sync folder', path, () => {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  });
}

/** {@link makeFolder}; the names of the folders that were missing are on the disk when it returns. @throws StorageError. */
export function makeSyncedFolder(path: string): void {
  runNamingPath('make folder', path, () => {
    const absent: string[] = [];
    for (
      let location = resolve(path);
      !isFolder(location) && dirname(location) !== location;
      location = dirname(location)
    )
      absent.push(location);
    makeMissing(path);
    for (const location of absent) syncFolder(dirname(location));
  });
}

/** Appends all bytes to an open file; repeats, since the system may write fewer bytes than requested. @throws the system's error, such as a full disk. */
export function writeFully(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.byteLength; ) {
    const written = writeSync(file, bytes, done, Math.min(bytes.byteLength - done, LARGEST_WRITE));
    if (written === 0) throw new Error(`no byte was written after ${done} of ${bytes.byteLength}`);
    done += written;
  }
}

/** Makes a new file, under a name that ends in a number. */
function makeTemporary(path: string, mode: number): { readonly file: number; readonly name: string } {
  for (;;) {
    const name = `${path}.${randomInt(TEMPORARY_NUMBERS)}`;
    try {
      return { file: openSync(name, 'wx', mode), name };
    } catch (error) {
      if (readErrorCode(error) !== 'EEXIST') throw error;
    }
  }
}

function fill(file: number, parts: Iterable<Uint8Array>, isSynced: boolean): void {
  let bytes = 0;
  for (const part of parts) {
    writeFully(file, part);
    bytes += part.byteLength;
  }
  if (isSynced) fsyncSync(file);
  const { size } = fstatSync(file);
  if (size !== bytes) throw new Error(`${size} of ${bytes} bytes were written`);
}

function replace(path: string, parts: Iterable<Uint8Array>, mode: number | null, isSynced: boolean): void {
  const existing = readStats(path);
  refuseLink('write', path);
  if (existing !== null && !existing.isFile()) throw new Error('it is not a regular file; remove it');
  const { file, name } = makeTemporary(path, mode ?? 0o666);
  try {
    try {
      if (existing !== null) fchmodSync(file, mode ?? existing.mode & PERMISSIONS);
      fill(file, parts, isSynced);
    } finally {
      closeSync(file);
    }
    renameSync(name, path);
  } catch (error) {
    rmSync(name, { force: true });
    throw error;
  }
}

/**
 * Writes a whole file or nothing: a temporary neighbour, synced and as long as it must be, then renamed.
 *
 * @param content whole, or in parts that are made as they are written.
 * @param mode the permissions of the file, such as 0o600 for a secret; null: those of the file before it, or those that the system gives.
 * @param isSynced false for a file of a cache, which has checksums: a power failure may damage what was written shortly
 *   before it.
 * @throws StorageError, also if the path is a link or not a regular file, and for an error of the parts.
 */
export function writeAtomic(
  path: string,
  content: string | Uint8Array | Iterable<Uint8Array>,
  mode: number | null = null,
  isSynced = true,
): void {
  runNamingPath('write', path, () => {
    makeMissing(dirname(path));
    const whole = typeof content === 'string' ? Buffer.from(content) : content;
    replace(path, whole instanceof Uint8Array ? [whole] : whole, mode, isSynced);
  });
}

/** Removes a file, or a folder with its content; does nothing if the path does not exist. @throws StorageError. */
export function removePath(path: string): void {
  runNamingPath('remove', path, () => rmSync(path, { recursive: true, force: true }));
}

export function readText(path: string): string {
  return runNamingPath('read', path, () => readFileSync(path, 'utf8'));
}

export function readBytes(path: string): Uint8Array {
  return runNamingPath('read', path, () => readFileSync(path));
}

/** The names in a folder, sorted. */
export function readFolder(path: string): string[] {
  return runNamingPath('read', path, () => readdirSync(path).sort());
}

/** Makes the folder and checks that it can be written, before long work starts. */
export function assertWritableFolder(path: string): void {
  runNamingPath('write to folder', path, () => {
    makeMissing(path);
    accessSync(path, constants.W_OK);
  });
}

/** Makes the folder, or checks that an existing one can be read; {@link assertWritableFolder} is called when a file is missing. */
export function assertReadableFolder(path: string): void {
  runNamingPath('read folder', path, () => {
    makeMissing(path);
    accessSync(path, constants.R_OK | constants.X_OK);
  });
}

/** The number of paths that {@link locatePath} has resolved. While it stays the same, files that are read name none. */
export let locatedPaths = 0;

/**
 * Resolves a path that a file names: first relative to the folder of the file, then to the working directory.
 *
 * @param folder of the file; null for a path that no file wrote, such as one of the command line.
 */
export function locatePath(path: string, folder: string | null): string {
  locatedPaths++;
  if (folder === null || isAbsolute(path)) return path;
  const beside = join(folder, path);
  return existsSync(beside) ? beside : path;
}

/** A file that is this many times as large as its compressed form is refused: text compresses to a tenth. */
const LARGEST_RATIO = 200;
/** Smaller files may compress to anything. */
const SMALL_BYTES = 2 ** 24;

export function formatMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20).toLocaleString('en-US')} MiB`;
}

/**
 * Refuses a bomb.
 *
 * @param name what to name once it is unpacked.
 * @throws StorageError for what unpacks to far more bytes than any text.
 */
export function assertUnpackedSize(where: string, packed: number, unpacked: number, name: 'file' | 'folder'): void {
  if (unpacked <= SMALL_BYTES || unpacked <= LARGEST_RATIO * packed) return;
  throw new StorageError('unpack', where, {
    cause: new Error(`${formatMegabytes(unpacked)} from ${formatMegabytes(packed)}`),
    remedy: `unpack the archive yourself and name the ${name}; at most ${LARGEST_RATIO} times the compressed size is unpacked`,
  });
}

/** Writes the next bytes at the beginning of an array that is not empty. @returns their number; 0 at the end. */
export type ReadBytes = (into: Uint8Array) => number;

/** The first bytes of a file of gzip (RFC 1952). */
const GZIP = [0x1f, 0x8b] as const;

/**
 * Unpacks a file in a thread, since Node unpacks a stream only beside an event loop. Hands over each part and waits
 * while as many are not taken as may wait. `counts` has the parts that were sent and those that were taken.
 */
const UNPACK = `
  const { workerData } = require('node:worker_threads');
  const { createReadStream } = require('node:fs');
  const { pipeline } = require('node:stream');
  const { createGunzip } = require('node:zlib');
  const { path, port, counts, waiting } = workerData;
  const send = (message) => {
    port.postMessage(message);
    Atomics.add(counts, 0, 1);
    Atomics.notify(counts, 0);
  };
  const unpack = async () => {
    for await (const part of pipeline(createReadStream(path), createGunzip({ chunkSize: 2 ** 16 }), () => {})) {
      for (let taken; Atomics.load(counts, 0) - (taken = Atomics.load(counts, 1)) >= waiting; ) Atomics.wait(counts, 1, taken);
      send({ part });
    }
    send({ isEnd: true });
  };
  unpack().catch((error) => send({ error: error.message }));`;

/** Parts of an unpacked file that wait for their reader. */
const WAITING = 4;

type UnpackMessage = { readonly part: Uint8Array } | { readonly error: string } | { readonly isEnd: true };

/** The bytes of a file of gzip, of which a few parts are in memory. */
class UnpackedFile {
  readonly #path: string;
  readonly #size: number;
  readonly #counts = new Int32Array(new SharedArrayBuffer(8));
  readonly #channel = new MessageChannel();
  readonly #thread: Worker;
  /** Parts; the message of the end is none. */
  #received = 0;
  #isEnded = false;
  #length = 0;
  #part: Uint8Array = new Uint8Array();

  /** @param size of the file as it is. */
  constructor(path: string, size: number) {
    [this.#path, this.#size] = [path, size];
    const port = this.#channel.port2;
    this.#thread = new Worker(UNPACK, {
      ...{ eval: true, execArgv: [] },
      workerData: { path, port, counts: this.#counts, waiting: WAITING },
      transferList: [port],
    });
  }

  /** @throws StorageError for a file that is damaged, or unpacks to far more bytes than any text. */
  readonly read: ReadBytes = (into) => {
    if (this.#part.length === 0 && !this.#isEnded) this.#part = this.#receive();
    const taken = this.#part.subarray(0, into.length);
    into.set(taken);
    this.#part = this.#part.subarray(taken.length);
    return taken.length;
  };

  /** The next part; empty after the last one. */
  #receive(): Uint8Array {
    Atomics.wait(this.#counts, 0, this.#received); // until more was sent than was received
    const { message } = receiveMessageOnPort(this.#channel.port1) as { message: UnpackMessage };
    if ('error' in message)
      throw new StorageError('unpack', this.#path, {
        cause: new Error(message.error),
        remedy: 'check that the file is whole, or copy it again',
      });
    this.#isEnded = 'isEnd' in message;
    if ('isEnd' in message) return new Uint8Array();
    this.#received++;
    Atomics.store(this.#counts, 1, this.#received);
    Atomics.notify(this.#counts, 1);
    this.#length += message.part.length;
    assertUnpackedSize(this.#path, this.#size, this.#length, 'file');
    return message.part;
  }

  readonly close = (): void => {
    this.#channel.port1.close();
    void this.#thread.terminate();
  };
}

/** The bytes of a file from its beginning, and what ends reading. */
interface OpenBytes {
  readonly read: ReadBytes;
  readonly close: () => void;
}

/**
 * Opens a file to read its bytes; those of a file of gzip, whatever its name, unpacked.
 *
 * @throws StorageError for a file that cannot be read, and, as it is read, for one that cannot be unpacked.
 */
export function openBytes(path: string): OpenBytes {
  return runNamingPath('read', path, () => {
    const file = openSync(path, 'r');
    const begin = new Uint8Array(2);
    const stats = fstatSync(file);
    if (stats.isFile()) readSync(file, begin, 0, begin.length, 0); // what is read of a pipe is lost to it
    const close = () => closeSync(file);
    if (begin[0] !== GZIP[0] || begin[1] !== GZIP[1])
      return { read: (into) => runNamingPath('read', path, () => readSync(file, into, 0, into.length, null)), close };
    close();
    return new UnpackedFile(path, stats.size);
  });
}

/**
 * Reads the bytes of a file, see {@link openBytes}.
 *
 * @param use reads as many of the bytes as it wants.
 * @returns what `use` returns.
 * @throws StorageError as {@link openBytes} does; as `use` does.
 */
export function readFileBytes<T>(path: string, use: (read: ReadBytes) => T): T {
  const bytes = openBytes(path);
  try {
    return use(bytes.read);
  } finally {
    bytes.close();
  }
}
