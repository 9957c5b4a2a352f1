import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { DimensionMismatchError, UnavailableError, ValidationError } from '../../../core/errors/errors.ts';
import { readText } from '../../../core/files/files.ts';
import { splitLines } from '../../../core/files/text-lines.ts';

/** An id of a file as text: programs write whole numbers as numbers. @param where of the id, for the message */
export function parseVectorId(value: unknown, where: string): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'bigint' || Number.isSafeInteger(value)) return String(value);
  throw new ValidationError(
    `${where}: an id is a text or a whole number, got ${JSON.stringify(value) ?? 'nothing'}; correct the id`,
  );
}

/** Ids of a JSON text, a list. @param source for messages */
export function parseIdList(text: string, source: string): string[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch (error) {
    throw new ValidationError(`${source} is not JSON: ${(error as Error).message}; write a list of ids`, { source });
  }
  if (!Array.isArray(list)) throw new ValidationError(`${source} is no JSON list; write a list of ids`, { source });
  return list.map((id, i) => parseVectorId(id, `${source}, item ${i + 1}`));
}

function parseIdLines(text: string, source: string): string[] {
  return Array.from(splitLines(text, source), ({ number, text: id }) => parseVectorId(id, `${source}, line ${number}`));
}

/** The places of a sidecar beside a file of vectors: `turns.ids.json` and `turns.ids.txt` beside `turns.npy`. */
function listSidecars(path: string): string[] {
  const base = path.slice(0, path.length - extname(path).length);
  return [`${base}.ids.json`, `${base}.ids.txt`];
}

/** The sidecar that exists, null where there is none. @param named the file that the options name */
export function findSidecar(path: string, named: string | null): string | null {
  return named ?? listSidecars(path).find((sidecar) => existsSync(sidecar)) ?? null;
}

/**
 * The ids of a file's rows from its sidecar: a JSON list in a `.json`, else one id a line.
 *
 * @throws UnavailableError without a sidecar, StorageError when it cannot be read, ValidationError for what is no id.
 */
export function readSidecar(path: string, sidecar: string | null): string[] {
  if (sidecar === null)
    throw new UnavailableError(
      `ids of ${path}`,
      `neither ${listSidecars(path).join(' nor ')} exists; write one id for each row`,
    );
  const text = readText(sidecar).replace(/^\uFEFF/, '');
  return extname(sidecar) === '.json' ? parseIdList(text, sidecar) : parseIdLines(text, sidecar);
}

/** The row of each id. @throws ValidationError for an id that occurs twice, DimensionMismatchError for another number of rows. */
export function indexRows(path: string, ids: readonly string[], rows: number): ReadonlyMap<string, number> {
  if (ids.length !== rows)
    throw new DimensionMismatchError(`ids of ${path}`, `${rows}, one for each row`, ids.length, 'correct the ids');
  const rowOf = new Map<string, number>();
  for (const [row, id] of ids.entries()) {
    const first = rowOf.get(id);
    if (first !== undefined)
      throw new ValidationError(`${path} has two vectors of one id, in rows ${first} and ${row}: ${id}; remove one`, {
        id,
      });
    rowOf.set(id, row);
  }
  return rowOf;
}
