import { basename, dirname, resolve } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { isOwnField, listFilterFields, type OwnField } from '../../model/filter/filter.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import { SIGNAL_GROUPS, type SignalGroup } from '../../rank/signals/bank/options.ts';
import { listLooks, type TestLook } from '../looks/test-looks.ts';
import { isSameSplit, type TestSplit } from '../looks/test-split.ts';
import { formatLook, type NumberedLook } from '../measure/numbered-look.ts';
import { listFilterTexts } from '../run/needed-attributes.ts';
import type { TrainingConfig } from './training-config.ts';

/** Has the result on the test split, in a training's folder. The looks are counted in the list beside the folder. */
export const TEST_FILE = 'test.json';

/** A test split, and the features that the signals of weights may use on it. */
export interface WeightsSplit extends TestSplit {
  readonly features: string[];
}

/** What each field of a turn counts as, where a filter reads it; any other field is an attribute. */
const FIELD_GROUPS: Readonly<Record<OwnField, SignalGroup>> = {
  id: 'text',
  conversationId: 'thread',
  parentId: 'thread',
  timestamp: 'time',
  author: 'author',
  channel: 'channel',
};

function listFilterGroups({ arm }: TrainingConfig): SignalGroup[] {
  const fields = listFilterTexts(arm).flatMap((text) => listFilterFields(parseFilter(text)));
  return fields.map((field) => (isOwnField(field) ? FIELD_GROUPS[field] : 'attributes'));
}

/** The features that signals may use by a config. */
export function listFeatures(config: TrainingConfig): string[] {
  const groups = new Set([...config.signals.groups, ...listFilterGroups(config)]);
  return SIGNAL_GROUPS.filter((group) => groups.has(group));
}

/** The look of a training's weights. */
export function describeWeightsLook(
  trainingFolder: string,
  split: WeightsSplit,
  made: Pick<TestLook, 'commit' | 'backend' | 'command'>,
): TestLook {
  return { ...split, ...made, run: basename(resolve(trainingFolder)) };
}

/** Every known look at a test split by weights with its features. */
export function listWeightsLooks(trainingFolder: string, split: WeightsSplit): TestLook[] {
  return listLooks(dirname(resolve(trainingFolder))).filter(
    (look) => isSameSplit(look, split) && look.features?.join() === split.features.join(),
  );
}

function formatTimes(count: number): string {
  return count === 1 ? '1 time' : `${count} times`;
}

/** @throws ValidationError for a second look at the test split without --again. */
export function assertFirstLook(
  looks: readonly TestLook[],
  { dataset, features }: WeightsSplit,
  isAgain: boolean,
): void {
  const [first] = looks;
  if (first === undefined || isAgain) return;
  throw new ValidationError(
    `test split of ${dataset} was looked at before with the features ${features.join(', ')} (${formatTimes(looks.length)}, first by ${first.run} at commit ${first.commit}); add --again to look once more; the table lists every look`,
    { dataset, looks: looks.length },
  );
}

/** The place of the look among all, then the looks with the same features. */
export function lookLines(numbered: NumberedLook, looks: readonly TestLook[]): string[] {
  const features = looks[0]?.features ?? [];
  const count = `${formatLook(numbered)} By weights with the features ${features.join(', ')}, ${formatTimes(looks.length)}:`;
  const lines = looks.map(({ run, commit, command, note }, i) => {
    const why = note === undefined ? '' : ` (${note})`;
    return `${i + 1}. ${run}, commit ${commit}${why}: ${command}`;
  });
  return [count, ...lines];
}
