import { join } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { readFolder, readText } from '../../core/files/files.ts';
import { mapWithBreaks, type StartProgress } from '../../core/terminal/progress.ts';
import type { Split } from '../../model/dataset.ts';
import type { Counts } from '../prepared/counts.ts';
import { type IrcLog, parseIrcLog } from './irc-log.ts';

/** For each line the earlier lines that it answers, ascending; lines without a link are omitted. */
export type Answers = ReadonlyMap<number, readonly number[]>;

const LINK = /^(\d+) (\d+) -\s*$/;

/**
 * Reads the links of a log, `earlier later -` each. A line linked to itself starts a conversation, and is read as a
 * line that answers nothing.
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

/** Which of our parts each folder of the source belongs to. Weights are learned and chosen on its train alone. */
const FOLDERS: readonly (readonly [folder: string, split: Split])[] = [
  ['train', 'dev'],
  ['dev', 'test'],
  ['test', 'test'],
];
const LOG = '.ascii.txt';
const LINKS = '.annotation.txt';

/** A log, the links of its messages, and its split. */
export interface AnnotatedLog {
  readonly log: IrcLog;
  readonly answers: Answers;
  readonly split: Split;
}

/**
 * The logs of the folders `train`, `dev` and `test`, in the order of their names; one of the last two may be missing.
 *
 * @throws ValidationError for a folder without logs for both parts, and for a file that is no log; StorageError if a
 *   file cannot be read.
 */
export async function readIrcFiles(path: string, counts: Counts, progress: StartProgress): Promise<AnnotatedLog[]> {
  const present = readFolder(path);
  const files = FOLDERS.filter(([folder]) => present.includes(folder)).flatMap(([folder, split]) =>
    readFolder(join(path, folder))
      .filter((name) => name.endsWith(LOG))
      .map((name) => ({ folder: join(path, folder), name: name.slice(0, -LOG.length), split })),
  );
  const stage = progress('logs', files.length);
  const logs = await mapWithBreaks(files, stage, ({ folder, name, split }) => readLog(folder, name, split, counts));
  stage.finish();
  for (const [split, folders] of [
    ['dev', 'train'],
    ['test', 'dev or test'],
  ] as const)
    if (!logs.some((log) => log.split === split))
      throw new ValidationError(
        `no ${LOG} file in folder ${folders} of: ${path}; copy the folders of the source there`,
        { path, split },
      );
  return logs;
}

function readLog(folder: string, name: string, split: Split, counts: Counts): AnnotatedLog {
  counts.add('logs');
  const log = parseIrcLog(name, readText(join(folder, `${name}${LOG}`)), counts);
  const links = join(folder, `${name}${LINKS}`);
  const answers = parseIrcLinks(readText(links), links, log.lineCount);
  for (const targets of answers.values()) counts.add('links to an earlier line', targets.length);
  return { log, answers, split };
}
