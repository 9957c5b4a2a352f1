import { closeSync, existsSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { StorageError } from '../errors/errors.ts';
import { assertNoLink, readText } from '../files/files.ts';
import { computeCrc32 } from '../hash/hash.ts';
import { parseOrNull } from '../validation/validation.ts';
import { type JournalPosition, journalPosition } from './position.ts';

const NAME = 'end';
/** All writes have this length, so that each replaces the whole file at once. */
const BYTES = 256;

const endSchema = journalPosition.extend({
  /** True if the entries so far are on the disk, also after a power failure. */
  isSynced: z.boolean(),
  /** The start of the system under which it was written; empty if the system does not report it. */
  boot: z.string(),
});
/** The last entry that a journal has acknowledged. */
export type JournalEnd = Readonly<z.output<typeof endSchema>>;

/** The identity of this start of the system. */
export function readBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** The end that a folder says its journal has; null for a file that is missing or damaged. @throws StorageError. */
export function readJournalEnd(folder: string): JournalEnd | null {
  const path = join(folder, NAME);
  if (!existsSync(path)) return null;
  assertNoLink(path);
  const text = readText(path);
  const [, json = '', crc] = /^(.*\}) *([0-9a-f]{8})\n$/.exec(text) ?? [];
  if (crc === undefined || computeCrc32(Buffer.from(json)) !== Number.parseInt(crc, 16)) return null;
  return parseOrNull(endSchema, JSON.parse(json));
}

function encodeEnd(end: JournalEnd): Buffer {
  const json = JSON.stringify(end);
  const crc = computeCrc32(Buffer.from(json)).toString(16).padStart(8, '0');
  return Buffer.from(`${json.padEnd(BYTES - crc.length - 1)}${crc}\n`);
}

/**
 * The file that says where a journal ends, written before each acknowledgement and never synced: it may be behind the
 * journal, and is ahead of it only if the journal has lost entries.
 */
export class JournalEndFile {
  readonly #path: string;
  readonly #file: number;
  readonly #boot = readBoot();

  /** @throws StorageError. */
  constructor(folder: string) {
    this.#path = join(folder, NAME);
    assertNoLink(this.#path);
    this.#file = this.#run('open', () => openSync(this.#path, existsSync(this.#path) ? 'r+' : 'wx'));
  }

  #run<T>(action: string, work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw new StorageError(action, this.#path, { cause: error });
    }
  }

  /** @throws StorageError. */
  write({ sequence, hash }: JournalPosition, isSynced: boolean): void {
    const bytes = encodeEnd({ sequence, hash, isSynced, boot: this.#boot });
    this.#run('write', () => {
      const written = writeSync(this.#file, bytes, 0, bytes.byteLength, 0);
      if (written !== bytes.byteLength) throw new Error(`${written} of ${bytes.byteLength} bytes were written`);
    });
  }

  close(): void {
    this.#run('close', () => closeSync(this.#file));
  }
}
