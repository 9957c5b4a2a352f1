import { ConfigurationError, DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { createTerminalProgress, printOut, type StartProgress } from '../../core/terminal/progress.ts';
import { type OnDirtyRow, RowFaults } from '../../data/jsonl/jsonl-rows.ts';
import { readVectorRows } from '../../index/encoders/precomputed/vector-file.ts';
import type { Memory } from '../../memory/engine/memory.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import { hasArm, openArmEncoder, type TextEncoder } from './memory/folder-arm.ts';
import { type MemoryFolder, readFolderToWrite, writeSettings } from './memory/memory-folder.ts';
import { assertFreeEncoder, openEncoder } from './memory/open-encoder.ts';
import { runWithMemory } from './memory/open-folder.ts';
import { type LocatedRecord, type ReadRows, readFiles } from './memory/read-files.ts';

/**
 * Gives records the vectors of a file, by id if the file has ids, else by order. A record without a vector, or with
 * two, is an error.
 *
 * @throws DimensionMismatchError for another number of rows without ids.
 */
async function attachVectors({ located, rows }: ReadRows, path: string, faults: RowFaults): Promise<LocatedRecord[]> {
  const file = await readVectorRows(path);
  if (file.ids === null && file.rows !== rows)
    throw new DimensionMismatchError(
      `vectors of ${path}, which has no ids`,
      `${rows}, one for each row`,
      file.rows,
      'write one vector for each row, or ids',
    );
  const rowOf = file.ids === null ? null : new Map(file.ids.map((id, row) => [id, row]));
  return located.flatMap((entry) => {
    const { where, offset, record } = entry;
    const row = rowOf === null ? offset : rowOf.get(record.id);
    if (row === undefined) faults.add(where, 'missing vector', `${record.id} has no row in ${path}; add one`);
    else if (record.embedding !== null)
      faults.add(where, 'two vectors', `${record.id} has an embedding, and a row in ${path}; leave one out`);
    else return [{ ...entry, record: { ...record, embedding: viewRow(file.values, file.dimension, row).slice() } }];
    return [];
  });
}

/** How records are read from files. */
export interface ReadFlags {
  readonly vectors?: string;
  readonly onDirtyRow: OnDirtyRow;
  readonly cache: string;
}

interface ImportFlags extends ReadFlags {
  readonly encoder?: string;
  readonly replace?: true;
  readonly set: readonly string[];
}

/** A record that can be written, and where it is from. */
export interface Complete {
  readonly where: string;
  readonly isTurn: boolean;
  readonly record: MemoryRecord;
}

/** Records that are written at once: the work on a batch ends before Ctrl-C is heeded. */
const BATCH = 1024;

/** The settings, with the encoder of the flag. @throws ConfigurationError if the memory has another encoder. */
function readTarget(folder: string, { encoder, set }: ImportFlags): MemoryFolder {
  const found = readFolderToWrite(folder, set);
  const own = found.settings.encoder?.encoder;
  if (encoder === undefined || encoder === own) return found;
  assertFreeEncoder(encoder);
  if (own !== undefined)
    throw new ConfigurationError(`the settings of ${folder}`, [
      {
        path: '--encoder',
        expected: `${own}, which embedded the records that are there`,
        got: JSON.stringify(encoder),
      },
    ]);
  return readFolderToWrite(folder, [`encoder={encoder: ${encoder}}`, ...set]);
}

/** Embeds the contexts of records without a vector. */
async function embed(
  located: readonly LocatedRecord[],
  open: () => Promise<TextEncoder>,
  progress: StartProgress,
): Promise<LocatedRecord[]> {
  const bare = located.filter(({ record }) => record.embedding === null);
  if (bare.length === 0) return [...located];
  const encoder = await open();
  try {
    const texts = bare.map(({ record }) => record.context);
    const owners = bare.map(({ record }) => ({
      kind: 'turn' as const,
      id: record.id,
      sensitive: record.metadata.sensitive === true,
    }));
    const vectors = await encoder.encode(texts, progress, { owners });
    const rowOf = new Map(bare.map(({ offset }, row) => [offset, row]));
    return located.map((entry) => {
      const row = rowOf.get(entry.offset);
      if (row === undefined) return entry;
      return { ...entry, record: { ...entry.record, embedding: viewRow(vectors, encoder.dimension, row).slice() } };
    });
  } finally {
    await encoder.dispose();
  }
}

/** Records whose vectors have the dimension of the memory, else of the first record. */
function selectComplete(located: readonly LocatedRecord[], given: number | undefined, faults: RowFaults): Complete[] {
  const dimension = given ?? located.find(({ record }) => record.embedding !== null)?.record.embedding?.length;
  return located.flatMap(({ where, isTurn, record }) => {
    const { embedding } = record;
    if (embedding === null)
      faults.add(where, 'missing vector', `${record.id}; add an embedding, or pass --vectors or --encoder`);
    else if (embedding.length !== dimension)
      faults.add(where, 'another dimension', `${record.id} has ${embedding.length} numbers, expected ${dimension}`);
    else return [{ where, isTurn, record: { ...record, embedding } }];
    return [];
  });
}

/** Records whose ids are new to the memory. @param remedy the end of the message about another one. */
export function selectNew(
  found: readonly Complete[],
  memory: Memory,
  faults: RowFaults,
  remedy: string,
): readonly Complete[] {
  return found.filter(({ where, record }) => {
    const isNew = memory.get(record.id) === null;
    if (!isNew) faults.add(where, 'duplicate id', `${record.id} is in the memory; ${remedy}`);
    return isNew;
  });
}

async function write(memory: Memory, found: readonly Complete[], isReplacing: boolean): Promise<void> {
  const stage = createTerminalProgress()('records', found.length);
  for (let start = 0; start < found.length; start += BATCH) {
    const batch = found.slice(start, start + BATCH).map(({ record }) => record);
    await (isReplacing ? memory.upsert(batch) : memory.addBatch(batch));
    stage.update(start + batch.length);
  }
  stage.finish(`${found.length} written`);
}

/** The remedy for rows that cannot be used. */
export const SKIP = 'pass --on-dirty-row skip';

/** The encoder of a folder: that of its arm, or its own; null for neither. */
function findEncoder(
  folder: string,
  { encoder }: MemoryFolder['settings'],
  cache: string,
  progress: StartProgress,
): (() => Promise<TextEncoder>) | null {
  if (hasArm(folder)) return () => openArmEncoder(folder, cache, progress);
  return encoder === null ? null : () => openEncoder(encoder, cache, progress);
}

/** The records of the files with their vectors, all faults of rows noted. */
export async function readComplete(
  folder: string,
  files: readonly string[],
  { settings }: MemoryFolder,
  flags: ReadFlags,
  faults: RowFaults,
): Promise<Complete[]> {
  const progress = createTerminalProgress();
  const read = await readFiles(files, faults);
  if (read.rows === 0) throw new ValidationError(`no records in ${files.join(', ')}; name files with records`);
  const located = flags.vectors === undefined ? read.located : await attachVectors(read, flags.vectors, faults);
  const open = findEncoder(folder, settings, flags.cache, progress);
  if (open === null) return selectComplete(located, settings.dimension, faults);
  faults.settle(files.join(', '), flags.onDirtyRow, SKIP); // before minutes of encoding
  return selectComplete(await embed(located, open, progress), settings.dimension, faults);
}

/**
 * The settings with the dimension of the records; those of a new memory of turns compute coordinates.
 *
 * @throws ValidationError without a usable record.
 */
function completeSettings(folder: string, target: MemoryFolder, found: readonly Complete[]): MemoryFolder {
  const { settings, written, exists } = target;
  const dimension = settings.dimension ?? found[0]?.record.embedding.length;
  if (dimension === undefined)
    throw new ValidationError(`no row can be used for ${folder}; correct the rows and run again`, { folder });
  const isOfTurns = !exists && written.coordinates === undefined && found.some(({ isTurn }) => isTurn);
  const added = isOfTurns ? { coordinates: true } : {};
  return { settings: { ...settings, dimension, ...added }, written: { dimension, ...written, ...added }, exists: true };
}

/** Imports records. Without `skip` every row is checked before the first is written. */
export async function runMemoryImport(folder: string, files: readonly string[], flags: ImportFlags): Promise<void> {
  const { replace = false, onDirtyRow } = flags;
  const target = readTarget(folder, flags);
  const faults = new RowFaults();
  const settle = () => faults.settle(files.join(', '), onDirtyRow, SKIP);
  const found = await readComplete(folder, files, target, flags, faults);
  if (!target.exists) settle(); // before the folder is made
  const { settings, written } = completeSettings(folder, target, found);
  await runWithMemory(folder, settings, async (memory) => {
    const chosen = replace ? found : selectNew(found, memory, faults, 'pass --replace to replace it');
    const skipped = settle();
    writeSettings(folder, written);
    await write(memory, chosen, replace);
    for (const [kind, count] of Object.entries(skipped.toFacts())) printOut(`${kind}: ${count}\n`);
    printOut(`${folder}: ${memory.size} records of ${memory.dimension} numbers\n`);
  });
}
