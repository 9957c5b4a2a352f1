import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { COORDINATES } from '../../ops/trajectory/coordinate-names.ts';
import { createLinearModel } from '../../rank/learning/linear-model.ts';
import { chooseParameterValues } from '../../rank/learning/parameters.ts';
import { createTrajectoryModel } from '../../rank/learning/trajectory-model.ts';
import { formatUserWeights, writeWeights } from '../../rank/learning/weight-file.ts';
import { withWeightFiles } from './file-references.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-references-'));
afterAll(() => rmSync(folder, { recursive: true }));
const bank = { groups: ['text'], encoders: [] };
const provenance = {
  config: { signals: bank, embedding: { encoder: 'lsa', dimension: 61 } },
  dataHash: 'abc',
  seeds: [1],
  commit: 'def',
  backend: 'cpu',
  trainingClusters: ['c0'],
  trainingContents: ['0123456789abcdef'],
};
const mix = join(folder, 'mix.safetensors');
const standardisation = { means: Float64Array.of(3, 5), deviations: Float64Array.of(2, 0.5) };
const model = createLinearModel({ signals: ['bm25', 'age'], nonNegative: [], initial: {} }, standardisation);
writeWeights(mix, { model, values: Float64Array.of(7, -1), provenance });
const chain = join(folder, 'chain.safetensors');
const trajectory = createTrajectoryModel({ dimensions: 5, self: 'include' });
const values = chooseParameterValues(trajectory, ({ initial }) => initial).map((value, i) =>
  i < 5 ? value + i : value,
);
writeWeights(chain, { model: trajectory, values, provenance });

const mixed = (options: object) => ({ steps: ['search', 'mix'], mix: options });
const placed = (options: object) => ({ steps: ['search', 'blend'], blend: { trajectory: options } });

describe('a mix of signals', () => {
  const expected = {
    signals: bank,
    weights: { bm25: 3.5, age: -2 }, // of a unit, not of a deviation
    origin: {
      ...{ file: mix, dataHash: 'abc', trainingClusters: ['c0'], commit: 'def' },
      trainingContents: ['0123456789abcdef'],
    },
  };

  test('takes the place of its file', () => {
    expect(withWeightFiles({ ...mixed({ weights: mix, share: 1 }), name: 'x' }, {})).toEqual({
      arm: { ...mixed({ share: 1, ...expected }), name: 'x' },
      faults: [],
    });
  });

  test('standardises signals by question if its file does', () => {
    const path = join(folder, 'question.safetensors');
    const byQuestion = createLinearModel({ signals: ['bm25', 'age'], normalise: 'question' }, standardisation);
    writeWeights(path, { model: byQuestion, values: Float64Array.of(7, -1), provenance });
    expect(withWeightFiles(mixed({ weights: path }), {}).arm.mix).toMatchObject({
      ...{ weights: { bm25: 7, age: -1 }, normalise: 'question' },
    });
  });

  test('is refused where texts are embedded otherwise than it was learned with, whoever writes the defaults out', () => {
    const arm = mixed({ weights: mix });
    const same = { encoder: 'lsa', dimension: 61, stem: false };
    expect(withWeightFiles(arm, { embedding: same }).arm.mix).toEqual(expected);
    for (const embedding of [{ encoder: 'lsa', dimension: 67 }, { encoder: 'use-lite' }]) {
      const { faults } = withWeightFiles(arm, { embedding });
      expect(faults).toHaveLength(1);
      expect(faults[0]?.path).toBe('mix.weights');
      expect(faults[0]?.got).toMatch(/^one that was learned with .*"dimension":61/);
    }
  });

  test('fits vectors of the same content wherever they are; where the content is unknown, the paths must be the same', () => {
    const write = (name: string, embedding: object) => {
      const path = join(folder, name);
      const config = { signals: bank, embedding };
      writeWeights(path, { model, values: Float64Array.of(7, -1), provenance: { ...provenance, config } });
      return path;
    };
    const embed = (turns: string, hash?: string) => ({
      ...{ encoder: 'precomputed', turns, turnIds: null, queries: null, queryIds: null, dimension: null },
      ...(hash === undefined ? {} : { hash }),
    });
    const [pinned, older] = [
      write('pinned.safetensors', embed('a.npy', 'x')),
      write('older.safetensors', embed('a.npy')),
    ];
    const countFaults = (weights: string, embedding: object) =>
      withWeightFiles(mixed({ weights }), { embedding }).faults.length;
    expect(countFaults(pinned, embed('b.npy', 'x'))).toBe(0);
    expect(countFaults(pinned, embed('a.npy', 'y'))).toBe(1);
    expect(countFaults(pinned, { ...embed('b.npy', 'x'), dimension: 3 })).toBe(1);
    expect(countFaults(older, embed('a.npy', 'x'))).toBe(0);
    expect(countFaults(older, embed('b.npy', 'x'))).toBe(1);
  });

  test('fits vectors of other texts if both configs name the model that made them', () => {
    const embed = (turns: string, hash: string, more: object = {}) => ({
      encoder: 'precomputed',
      turns,
      hash,
      ...more,
    });
    const path = join(folder, 'named.safetensors');
    const config = { signals: bank, embedding: embed('a.npy', 'x', { model: 'mini' }) };
    writeWeights(path, { model, values: Float64Array.of(7, -1), provenance: { ...provenance, config } });
    const listFaults = (embedding: object) => withWeightFiles(mixed({ weights: path }), { embedding }).faults;
    expect(listFaults(embed('b.npy', 'y', { model: 'mini' }))).toEqual([]);
    expect(listFaults(embed('b.npy', 'x'))).toEqual([]);
    expect(listFaults(embed('b.npy', 'y', { model: 'other' }))).toHaveLength(1);
    expect(listFaults(embed('b.npy', 'y', { model: 'mini', dimension: 3 }))).toHaveLength(1);
    expect(listFaults(embed('b.npy', 'y'))[0]?.expected).toMatch(/embedding\.model in the configs of both$/);
  });

  test('that is written out stays', () => {
    const arm = mixed({ signals: bank, weights: { bm25: 1 } });
    expect(withWeightFiles(arm, {})).toEqual({ arm, faults: [] });
  });
});

test('coordinate weights take the place of their file, with the dimensions that there are without a word', () => {
  const learned = Object.fromEntries(COORDINATES[5].map((name, i) => [name, values[i]]));
  for (const more of [{}, { dimensions: 5 }])
    expect(withWeightFiles(placed({ weights: chain, ...more }), {})).toEqual({
      arm: placed({ ...more, weights: learned }),
      faults: [],
    });
});

describe('weights of users', () => {
  const users = join(folder, 'users.json');
  const weights = {
    semantic_similarity: 0.1,
    entity_overlap: 0.2,
    temporal_relevance: 0.3,
    importance: 0.4,
    reinforcement: 0,
  };
  writeFileSync(
    users,
    formatUserWeights({ provenance, users: { ann: { exploratory: { weights, questions: 11, share: 0.2 } } } }),
  );
  const arm = (file: string) => ({ steps: ['search', 'score'], score: { strategy: { users: file } } });

  test('take the place of their file', () => {
    const { arm: resolved, faults } = withWeightFiles(arm(users), {});
    expect(faults).toEqual([]);
    expect(resolved.score).toMatchObject({
      strategy: { users: { ann: { exploratory: weights } }, origin: { file: users, dataHash: 'abc' } },
    });
  });

  test.each([
    ['of another encoder', users, { embedding: { encoder: 'use-lite' } }, /one that was learned with/],
    ['that are not there', join(folder, 'none.json'), {}, /none\.json/],
    ['in a file of another kind', mix, {}, /mix\.safetensors/],
  ])('%s are refused', (_, file, around, got) => {
    const { faults } = withWeightFiles(arm(file), around);
    expect(faults.map(({ path }) => path)).toEqual(['score.strategy.users']);
    expect(faults[0]?.got).toMatch(got);
  });
});

test('an arm without weights stays as it is', () => {
  const arm = { ...placed({ dimensions: 3 }), name: 'x', fuse: { only: 'bm25' } };
  expect(withWeightFiles(arm, {})).toEqual({ arm, faults: [] });
});

const missing = join(folder, 'missing.safetensors');
test.each([
  ['a chain for a mix', mixed({ weights: chain }), 'mix.weights', /linear mix of signals$/, 'one of model trajectory'],
  [
    'a file that is not there',
    mixed({ weights: missing }),
    'mix.weights',
    /cannot read.*ENOENT/,
    JSON.stringify(missing),
  ],
  [
    'a mix for coordinates',
    placed({ weights: mix }),
    'blend.trajectory.weights',
    /in 5 dimensions$/,
    'one of model linear',
  ],
  [
    'other dimensions',
    placed({ weights: chain, dimensions: 3 }),
    'blend.trajectory.weights',
    /in 3 dimensions$/,
    'one in 5 dimensions',
  ],
])('%s is an error with path, expectation and finding', (_, arm, path, expected, got) => {
  const { arm: left, faults } = withWeightFiles(arm, {});
  expect(faults).toEqual([{ path, expected: expect.stringMatching(expected), got }]);
  expect(left).toEqual(arm);
});
