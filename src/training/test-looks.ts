import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { ValidationError } from '../core/errors.ts';
import { readText, writeAtomic } from '../core/files.ts';
import { groupContentHashes } from '../experiment/run/cluster-conversations.ts';
import type { Dataset } from '../model/dataset.ts';
import { isOwnField, listFilterFields, type OwnField } from '../model/filter/filter.ts';
import { parseFilter } from '../model/filter/parse-filter.ts';
import { SIGNAL_GROUPS, type SignalGroup } from '../signals/bank/options.ts';
import { formatTimes, readTouches, TEST_FILE, type Touch } from './test-touches.ts';
import type { TrainingConfig } from './training-config.ts';

/** Lists the looks at test splits of all trainings of a folder, and of all published trainings. */
export const LOOKS_FILE = 'test-looks.json';

/** Content hashes that are kept of a test split, the smallest ones: enough to recognise it when some conversations change. */
const KEPT_HASHES = 16;

const splitSchema = z.strictObject({
  dataset: z.string(),
  /** The features that signals may use. */
  features: z.array(z.string()),
  /** Content hashes of some test conversations; without any, the dataset's name decides. */
  contents: z.array(z.string()).optional(),
});
/** The identity by which looks are counted, over all trainings. */
export type TestSplit = z.output<typeof splitSchema>;

const lookSchema = z.strictObject({
  ...splitSchema.shape,
  /** The training's folder, and which of its looks this was. */
  training: z.string(),
  number: z.int().min(1),
  commit: z.string(),
  backend: z.string(),
  command: z.string(),
  /** For people to read. */
  note: z.string().optional(),
});
export type TestLook = z.output<typeof lookSchema>;

const fileSchema = z.strictObject({ looks: z.array(lookSchema) });

/** What each field of a turn counts as, where a filter reads it; any other field is an attribute. */
const FIELD_GROUPS: Readonly<Record<OwnField, SignalGroup>> = {
  id: 'text',
  conversationId: 'thread',
  parentId: 'thread',
  timestamp: 'time',
  author: 'author',
  channel: 'channel',
};

function listFilterGroups({ filter, sameChannel }: TrainingConfig): SignalGroup[] {
  const fields = filter ? listFilterFields(parseFilter(filter)) : [];
  const groups = fields.map((field) => (isOwnField(field) ? FIELD_GROUPS[field] : 'attributes'));
  return [...groups, ...(sameChannel ? (['channel'] as const) : [])];
}

/** The test split of a dataset as used by a config. */
export function describeTestSplit(dataset: Dataset, config: TrainingConfig): TestSplit {
  const test = dataset.queries.filter(({ split }) => split === 'test');
  const contents = [...groupContentHashes({ ...dataset, queries: test }).values()].flat();
  const groups = new Set([...config.signals.groups, ...listFilterGroups(config)]);
  return {
    dataset: dataset.name,
    features: SIGNAL_GROUPS.filter((group) => groups.has(group)),
    contents: [...new Set(contents)].sort().slice(0, KEPT_HASHES),
  };
}

function isSameSplit(a: TestSplit, b: TestSplit): boolean {
  if (a.dataset !== b.dataset || a.features.join() !== b.features.join()) return false;
  return a.contents === undefined || b.contents === undefined || a.contents.some((hash) => b.contents?.includes(hash));
}

/** @throws ValidationError for another kind of file. */
function readLooks(path: string): TestLook[] {
  if (!existsSync(path)) return [];
  const text = readText(path);
  try {
    return fileSchema.parse(JSON.parse(text)).looks;
  } catch (error) {
    throw new ValidationError(
      `not a list of looks at test splits: ${path}; restore the file from a backup`,
      { path },
      { cause: error },
    );
  }
}

function writeLooks(path: string, looks: readonly TestLook[]): void {
  writeAtomic(path, `${JSON.stringify({ looks }, null, 2)}\n`);
}

/** The looks of several lists, each once, in the order in which they are first listed. */
function mergeLooks(...lists: readonly (readonly TestLook[])[]): TestLook[] {
  const found = new Map<string, TestLook>();
  for (const look of lists.flat()) {
    const key = `${look.training} ${look.number}`;
    if (!found.has(key)) found.set(key, look);
  }
  return [...found.values()];
}

/** Published looks come first, since they are older or the same. */
function joinLookPaths(trainingFolder: string): { readonly published: string; readonly own: string } {
  const runs = dirname(resolve(trainingFolder));
  return { published: join(dirname(runs), LOOKS_FILE), own: join(runs, LOOKS_FILE) };
}

function trainingName(trainingFolder: string): string {
  return basename(resolve(trainingFolder));
}

/** Every known look: of all trainings beside this one, of those that were published, and of this one's own record. @param split that of this training */
function knownLooks(trainingFolder: string, split: TestSplit): TestLook[] {
  const { published, own } = joinLookPaths(trainingFolder);
  const training = trainingName(trainingFolder);
  const recorded = readTouches(join(trainingFolder, TEST_FILE)).map((touch, i) => {
    return { ...split, training, number: i + 1, ...touch };
  });
  return mergeLooks(readLooks(published), readLooks(own), recorded);
}

/**
 * Every known look at a test split with its features.
 *
 * @throws ValidationError for a file of another kind.
 */
export function listLooksAt(trainingFolder: string, split: TestSplit): TestLook[] {
  return knownLooks(trainingFolder, split).filter((look) => isSameSplit(look, split));
}

/** A new look of a training, numbered after all listed looks of the training: a folder that was removed and made again does not repeat a number. */
export function nextLook(trainingFolder: string, split: TestSplit, touch: Touch): TestLook {
  const training = trainingName(trainingFolder);
  const own = knownLooks(trainingFolder, split).filter((look) => look.training === training);
  const last = own.reduce((most, { number }) => Math.max(most, number), 0);
  return { ...split, training, number: last + 1, ...touch };
}

/** @throws ValidationError for a second look at the test split without --again. */
export function assertFirstLook(looks: readonly TestLook[], { dataset, features }: TestSplit, isAgain: boolean): void {
  const [first] = looks;
  if (first === undefined || isAgain) return;
  throw new ValidationError(
    `test split of ${dataset} was looked at before with the features ${features.join(', ')} (${formatTimes(looks.length)}, first by ${first.training} at commit ${first.commit}); add --again to look once more; the table lists every look`,
    { dataset, looks: looks.length },
  );
}

/** Adds looks to the list beside the training's folder. */
export function recordLooks(trainingFolder: string, looks: readonly TestLook[]): void {
  const { own } = joinLookPaths(trainingFolder);
  writeLooks(own, mergeLooks(readLooks(own), looks));
}

/** Adds the looks that are listed beside a training's folder to the published list; does nothing without looks. */
export function publishLooks(trainingFolder: string, results: string): void {
  const looks = readLooks(joinLookPaths(trainingFolder).own);
  const path = join(results, LOOKS_FILE);
  if (looks.length > 0) writeLooks(path, mergeLooks(readLooks(path), looks));
}

/** The number of looks at a test split, then each look; readers of the figures need both. */
export function lookLines(looks: readonly TestLook[]): string[] {
  const [first] = looks;
  if (first === undefined) return [];
  const count = `Test split of ${first.dataset} looked at ${formatTimes(looks.length)} with the features ${first.features.join(', ')}:`;
  const lines = looks.map(({ training, commit, command, note }, i) => {
    const why = note === undefined ? '' : ` (${note})`;
    return `${i + 1}. ${training}, commit ${commit}${why}: ${command}`;
  });
  return [count, ...lines];
}
