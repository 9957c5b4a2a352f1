import { expect, test } from 'vitest';
import type { Dataset } from '../../model/dataset.ts';
import { type ArmOptions, armOptions } from '../config/config-schema.ts';
import { assertArmAttributes, assertMetricData } from './needed-data.ts';

const describeDataset = (attributes?: object) =>
  ({ name: 'chats', corpus: { turns: [{ id: 'a' }, { id: 'b', attributes }] } }) as unknown as Dataset;
const describeArm = (name: string, more: object): ArmOptions => {
  const steps = { search: { newest: {} }, ...more };
  return armOptions.parse({ name, extends: 'other', ...steps, steps: Object.keys(steps) });
};
const putUnderControl = (name: string, kind: string): ArmOptions =>
  armOptions.parse({ name, extends: 'other', steps: ['search'], search: { newest: {} }, control: { kind } });

const boosted = describeArm('boosted', { boost: [{ attribute: 'outcome', factor: 1 }] });
const boostless = describeArm('plain', {});
const mixed = describeArm('mixed', {
  mix: { signals: { groups: ['attributes'] }, weights: { importance: 0.5, outcome: 0 } },
});

test('an arm that reads attributes of some turn is accepted, and one that reads none', () => {
  const dataset = describeDataset({ outcome: 1, importance: 0.5 });
  expect(() => assertArmAttributes(dataset, [boosted, mixed])).not.toThrow();
  expect(() => assertArmAttributes(describeDataset(), [boostless])).not.toThrow();
});

test('a filter by an attribute that no turn has is an error of its arm, unless the filter asks by exists', () => {
  const dataset = describeDataset({ weather: 'rain', phase: 'late' });
  const before = (where: string) => describeArm('filtered', { filter: where });
  const of = (filter: string) => describeArm('searched', { search: { semantic: { filter } } });
  for (const arm of [before("weather = 'rain'"), before('exists wether and wether = 1'), of('not sensitive = true')])
    expect(() => assertArmAttributes(dataset, [arm])).not.toThrow();
  expect(() => assertArmAttributes(dataset, [before("wether = 'rain'"), of("wether = 'rain'")])).toThrow(
    /filter of arm filtered.*a turn of chats has; did you mean weather\?.*wether[\s\S]*filter of arm searched/,
  );
});

test('each arm without its attribute is named', () => {
  expect(() => assertArmAttributes(describeDataset(), [boosted, mixed])).toThrow(
    'dataset chats has no attribute for boost of outcome of arm boosted; scoring signal importance of arm mixed: no turn has an attribute; ' +
      'remove it from boosts; remove its weight from the weights of the mix, or add the attribute to the turns',
  );
  expect(() => assertArmAttributes(describeDataset({ phase: 'late', outcome: 1 }), [boosted, mixed])).toThrow(
    'scoring signal importance of arm mixed: turns have outcome, phase; ',
  );
});

test.each<[object, object, string]>([
  [{ outcome: 'good' }, { factor: 1 }, 'has one factor, and turn b of dataset chats has a text there; set factors'],
  [{ outcome: ['good'] }, { factor: 1 }, 'has one factor, and turn b of dataset chats has a list there; set factors'],
  [
    { outcome: 1 },
    { factors: { good: 1 } },
    'has a factor for each text, and turn b of dataset chats has a number there',
  ],
  [{ outcome: 1e300 }, { factor: 10 }, 'is beyond float32 at turn b of dataset chats, which has 1e+300 there; lower'],
])('%j does not fit a boost with %j, which is refused before the run', (attributes, kind, message) => {
  const arm = describeArm('boosted', { boost: [{ attribute: 'outcome', ...kind }] });
  expect(() => assertArmAttributes(describeDataset(attributes), [arm])).toThrow(
    `boost of outcome of arm boosted ${message}`,
  );
});

const describeTitles = (...titles: readonly unknown[]) =>
  ({ name: 'chats', corpus: { turns: titles.map((title) => ({ attributes: { title } })) } }) as unknown as Dataset;
const shuffled = putUnderControl('graph | control: shuffled-titles', 'shuffled-titles');

test('a control that exchanges titles is refused where there are not two to exchange', () => {
  const refuse = (...titles: readonly unknown[]) =>
    expect(() => assertArmAttributes(describeTitles(...titles), [boostless, shuffled]));
  refuse(7, undefined).toThrow(
    'dataset chats has no title, and null control shuffled-titles exchanges the titles of its turns in 1 arms (graph | control: shuffled-titles); ' +
      'leave this kind out, as in controls: [random-graph], or add the attribute title to the turns',
  );
  refuse('Oak', undefined, 'Oak').toThrow('dataset chats has one title, ');
  refuse('Oak', 'Elm').not.toThrow();
});

test('other controls need no title', () => {
  const random = putUnderControl('random', 'random-graph');
  expect(() => assertArmAttributes(describeDataset(), [boostless, random])).not.toThrow();
});

test('metrics of superseded turns are refused before a run where the dataset names none', () => {
  const metrics = ['mrr@10', 'stale@10', 'correct-first'];
  expect(() => assertMetricData(describeDataset(), metrics)).toThrow(
    'dataset chats names no superseded turns for metrics: stale@10, correct-first; leave the metrics out, or add superseded.tsv to a jsonl folder',
  );
  expect(() => assertMetricData({ ...describeDataset(), superseded: new Map() }, metrics)).not.toThrow();
  expect(() => assertMetricData(describeDataset(), ['mrr@10'])).not.toThrow();
});
