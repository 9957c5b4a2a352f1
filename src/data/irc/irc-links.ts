import { ValidationError } from '../../core/errors/errors.ts';

/** For each line the earlier lines that it answers, ascending; lines without a link are omitted. */
export type Answers = ReadonlyMap<number, readonly number[]>;

const LINK = /^(\d+) (\d+) -\s*$/;

/**
 * Reads the links of a log, `earlier later -` each. A line linked to itself starts a conversation, and is read as a line that answers nothing.
 *
 * @param file names the source in errors.
 * @throws ValidationError for a line of another form, or a link to a line outside the log.
 */
export function parseIrcLinks(text: string, file: string, lineCount: number): Answers {
  const answers = new Map<number, Set<number>>();
  for (const [i, row] of text.split('\n').entries()) {
    if (row.trim() === '') continue;
    const where = `${file}:${i + 1}`;
    const ends = LINK.exec(row)?.slice(1).map(Number);
    if (ends === undefined)
      throw new ValidationError(`${where}: not a link: ${row.trim()}; write it as: earlier later -`);
    const [earlier, later] = [Math.min(...ends), Math.max(...ends)];
    if (later >= lineCount)
      throw new ValidationError(`${where}: link to line ${later} of a log with ${lineCount} lines; correct the link`);
    if (earlier === later) continue;
    const targets = answers.get(later);
    if (targets === undefined) answers.set(later, new Set([earlier]));
    else targets.add(earlier);
  }
  return new Map([...answers].map(([line, targets]) => [line, [...targets].sort((a, b) => a - b)]));
}
