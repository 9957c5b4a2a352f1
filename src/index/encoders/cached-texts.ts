import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ChecksumMismatchError, StorageError } from '../../core/errors/errors.ts';
import { assertNoLink, removePath, writeAtomic } from '../../core/files/files.ts';
import { sayTurn, type Turn } from '../../model/turns/turn.ts';
import {
  type BlockForm,
  computeTextKey,
  encodeBlock,
  type FoundBlock,
  listSegmentPaths,
  readAt,
  readBlocks,
  readValues,
  VECTORS,
  withFile,
} from './segments.ts';
import { TOKENS } from './token-blocks.ts';

/** The folders of a cache with what encoders make of texts. */
const PARTS = { vectors: ['embeddings', VECTORS], tokens: ['tokens', TOKENS] } as const;

/** Texts that a cache is rid of. */
export interface CachedTexts {
  /** The folder of the cache. */
  readonly folder: string;
  /** See {@link listTextKeys}. */
  readonly hashes: readonly string[];
}

/** The hashes by which a cache may have the text of a turn: as a turn or a query, alone or with its author. */
export function listTextKeys(turn: Pick<Turn, 'text' | 'author'>): string[] {
  return [turn.text, sayTurn(turn)].flatMap((text) => [computeTextKey(text), computeTextKey(text, true)]);
}

/** The number of values that a cache has of some texts. */
export interface CachedValues {
  /** Vectors of these texts, by any encoder. */
  readonly vectors: number;
  /** Texts with vectors of their tokens, among them those that have one of these texts before them. */
  readonly tokens: number;
  /** Files that are damaged or of an earlier version. They may have vectors of these texts too, and stay. */
  readonly unread: readonly string[];
}

/** The segments of one part, of every encoder. @throws StorageError. */
function listSegments(folder: string, [part, form]: (typeof PARTS)[keyof typeof PARTS]): string[] {
  const path = join(folder, part);
  if (!existsSync(path)) return [];
  try {
    const encoders = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return encoders.flatMap(({ name }) => listSegmentPaths(join(path, name), form));
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
}

/** The rows of a block that were computed without any of some texts. */
function listKept(form: BlockForm, file: number, found: FoundBlock, hashes: ReadonlySet<string>): number[] {
  const texts = form.listTexts(found, (bytes) => readAt(file, found.block.at, bytes));
  return texts.flatMap((own, row) => (own.some((hash) => hashes.has(hash)) ? [] : [row]));
}

/** The content of a segment without the rows of some texts, and without a block that is incomplete. */
function* readKept(form: BlockForm, file: number, path: string, hashes: ReadonlySet<string>): Generator<Uint8Array> {
  for (const found of readBlocks(form, file, path)) {
    if (found === null) return;
    const { header, keys, block } = found;
    const rows = listKept(form, file, found, hashes);
    if (rows.length === 0) continue;
    const values = form.keep(header, readValues(form, file, block), rows);
    const kept = rows.map((row) => keys[row] as string);
    yield encodeBlock(form, header.identity, kept, header.dimension, values);
  }
}

/** The rows of some texts in a segment, all rows, and whether its end is incomplete. */
interface SegmentContent {
  readonly forgotten: number;
  readonly rows: number;
  readonly isIncomplete: boolean;
}

/** @returns null for a segment that cannot be read; nothing is in one that was deleted meanwhile. */
function readContent(form: BlockForm, path: string, hashes: ReadonlySet<string>): SegmentContent | null {
  const content = { forgotten: 0, rows: 0, isIncomplete: false };
  try {
    assertNoLink(path);
    withFile(path, (file) => {
      for (const found of readBlocks(form, file, path)) {
        content.isIncomplete ||= found === null;
        if (found === null) continue;
        readValues(form, file, found.block);
        content.rows += found.header.count;
        content.forgotten += found.header.count - listKept(form, file, found, hashes).length;
      }
    });
    return content;
  } catch (error) {
    if (error instanceof ChecksumMismatchError) return null;
    throw error;
  }
}

/**
 * Counts what the cache of encoders has of some texts. Reads every segment. @throws StorageError.
 */
export function countCachedTexts({ folder, hashes }: CachedTexts): CachedValues {
  const wanted = new Set(hashes);
  const unread: string[] = [];
  const count = (part: keyof typeof PARTS) => {
    const contents = listSegments(folder, PARTS[part]).map((path) => {
      const content = readContent(PARTS[part][1], path, wanted);
      if (content === null) unread.push(path);
      return content?.forgotten ?? 0;
    });
    return contents.reduce((sum, forgotten) => sum + forgotten, 0);
  };
  return { vectors: count('vectors'), tokens: count('tokens'), unread };
}

/**
 * Removes from the cache of encoders what was computed from some texts: their vectors, and the tokens of texts that
 * have one of them before them. Each segment is replaced as a whole, so that a second call finishes what a killed
 * process began. A segment without other texts is deleted, and one that cannot be read stays. Reads every segment, a
 * block at a time.
 *
 * @throws StorageError.
 */
export function evictCachedTexts({ folder, hashes }: CachedTexts): void {
  const forgotten = new Set(hashes);
  for (const part of Object.values(PARTS))
    for (const path of listSegments(folder, part)) {
      const content = readContent(part[1], path, forgotten);
      if (content === null) continue;
      if (content.forgotten === content.rows) removePath(path);
      else if (content.forgotten > 0 || content.isIncomplete)
        withFile(path, (file) => writeAtomic(path, readKept(part[1], file, path, forgotten)));
    }
}
