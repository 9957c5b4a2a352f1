import { existsSync } from 'node:fs';
import { z } from 'zod';
import { ValidationError } from '../core/errors.ts';
import { readText } from '../core/files.ts';

/** Writes the result on the test split to a training's folder, with the number of looks. */
export const TEST_FILE = 'test.json';

/** Once that the test split was looked at. */
const touch = z.object({ commit: z.string(), backend: z.string(), command: z.string() });
export type Touch = z.output<typeof touch>;

const touched = z.looseObject({ touches: z.array(touch) });

/** The looks at the test split that a file records, the first one first; none without a file. @throws ValidationError for another kind of file. */
export function readTouches(path: string): Touch[] {
  if (!existsSync(path)) return [];
  const text = readText(path);
  try {
    return touched.parse(JSON.parse(text)).touches;
  } catch (error) {
    throw new ValidationError(
      `file has no number of looks at the test split: ${path}; run ragpp test-weights again`,
      { path },
      { cause: error },
    );
  }
}

/** The part of such a file to keep when its figures no longer belong to the weights. */
export function formatKeptTouches(path: string): string {
  return `${JSON.stringify({ touches: readTouches(path) }, null, 2)}\n`;
}

export function formatTimes(count: number): string {
  return count === 1 ? '1 time' : `${count} times`;
}
