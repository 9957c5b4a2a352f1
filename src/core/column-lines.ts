import { ValidationError } from './errors.ts';

/** A line of a file in columns. */
export interface Line {
  /** `source:number`, for errors. */
  readonly at: string;
  readonly fields: readonly string[];
}

/**
 * The lines of a file with `width` columns each; empty lines are skipped.
 *
 * @throws ValidationError naming the line with another number of columns.
 */
export function parseLines(text: string, source: string, width: number): Line[] {
  const lines = text.split('\n').map((line, i) => ({ at: `${source}:${i + 1}`, fields: line.trim().split(/[ \t]+/) }));
  const filled = lines.filter(({ fields }) => fields[0] !== '');
  for (const { at, fields } of filled)
    if (fields.length !== width)
      throw new ValidationError(
        `expected ${width} columns at ${at}, got ${fields.length}: ${fields.join(' ')}; correct the line`,
        {
          at,
        },
      );
  return filled;
}
