import { expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import type { Plain } from '../composition/config-file.ts';
import { listArmsToRun, selectArms } from './arm-selection.ts';
import { resolveConfig } from './config.ts';

const words = [{ search: { bm25: {} } }];
const placed = { from: 'fading', then: [{ blend: { trajectory: { dimensions: 3 } } }] };
const config = resolveConfig(
  {
    name: 'sample',
    dataset: { name: 'spamassassin-threads' },
    embedding: { encoder: 'lsa' },
    evaluation: { baseline: 'Words' },
    arms: {
      Other: words,
      Words: words,
      fading: { from: 'Words', then: [{ decay: {} }] },
      'fading, 3-D': placed,
      last: words,
    },
  },
  'test.yaml',
);
const listSelected = (...wanted: string[]) => {
  const { arms, only } = selectArms(config, wanted);
  return { arms: arms.map(({ name }) => name), only };
};
const runNames = (...wanted: string[]) => listArmsToRun(selectArms(config, wanted)).map(({ name }) => name);

test('no name is all arms', () => {
  expect(selectArms(config, [])).toBe(config);
  expect(listArmsToRun(config)).toBe(config.arms);
});

test('the baseline is kept, and the order of the config', () => {
  expect(runNames('last', 'Other')).toEqual(['Other', 'Words', 'last']);
  expect(listSelected('last', 'Other')).toEqual({ arms: ['Other', 'Words', 'last'], only: null });
  expect(runNames('Words')).toEqual(['Words']);
});

test('what an arm extends stays in the config and is not run', () => {
  expect(listSelected('fading, 3-D')).toEqual({
    arms: ['Words', 'fading', 'fading, 3-D'],
    only: ['Words', 'fading, 3-D'],
  });
  expect(runNames('fading, 3-D')).toEqual(['Words', 'fading, 3-D']);
  expect(runNames('fading, 3-D', 'fading')).toEqual(['Words', 'fading', 'fading, 3-D']);
});

test('an arm goes by the name of its file as well', () => {
  expect(runNames('fading-3-d')).toEqual(['Words', 'fading, 3-D']);
});

test('the selection is part of the config, which resolves to itself', () => {
  const few = selectArms(config, ['fading, 3-D']);
  expect(resolveConfig(structuredClone(few) as unknown as Plain, 'again')).toEqual(few);
  expect(selectArms(few, ['fading-3-d'])).toEqual(few);
});

test('every unknown name is reported, with the nearest', () => {
  const listSelectFaults = (...wanted: string[]) => {
    try {
      selectArms(config, wanted);
      return [];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return error.faults;
    }
  };
  expect(listSelectFaults('Wrods', 'last', 'something')).toEqual([
    { path: '--arm', expected: 'an arm of sample', got: '"Wrods"', nearest: 'Words' },
    { path: '--arm', expected: 'an arm of sample', got: '"something"' },
  ]);
});

test('an arm is run with all of its seeds, as are its null controls and the baseline', () => {
  const repeated = resolveConfig(
    {
      ...(structuredClone(config) as unknown as Plain),
      arms: { Words: words, fading: { from: 'Words', then: [{ decay: {} }] }, moved: { ...placed, from: 'Words' } },
      controls: ['random-parents'],
      seeds: 2,
    },
    'test.yaml',
  );
  const names = [
    'Words',
    'moved',
    'moved | control: random-parents',
    'Words | seed: 2',
    'moved | seed: 2',
    'moved | control: random-parents | seed: 2',
  ];
  const listRun = (name: string) => listArmsToRun(selectArms(repeated, [name])).map((arm) => arm.name);
  expect(listRun('moved').sort()).toEqual(names.sort());
  expect(listRun('moved | seed: 2').sort()).toEqual(names.sort());
});
