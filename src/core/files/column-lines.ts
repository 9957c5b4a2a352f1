import { ValidationError } from '../errors/errors.ts';
import { splitLines } from './text-lines.ts';

/** A line of a file in columns. */
export interface Line {
  /** `source:number`, for errors. */
  readonly at: string;
  readonly fields: readonly string[];
}

/**
 * The lines of a file with `width` columns each; empty lines are skipped.
 *
 * @throws ValidationError naming the line with another number of columns, or that is too long.
 */
export function parseLines(text: string, source: string, width: number): Line[] {
  const filled: Line[] = [];
  for (const { where: at, text: line } of splitLines(text, source)) {
    const fields = line.trim().split(/[ \t]+/);
    if (fields[0] === '') continue;
    if (fields.length !== width)
      throw new ValidationError(
        `expected ${width} columns at ${at}, got ${fields.length}: ${fields.join(' ')}; correct the line`,
        {
          at,
        },
      );
    filled.push({ at, fields });
  }
  return filled;
}
