import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import { merge, type Plain } from '../composition/config-file.ts';
import { loadConfig } from './config.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-faults-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Writes a config in several files. */
function write(files: Readonly<Record<string, Plain>>): void {
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), JSON.stringify(content));
  }
}

const own: Plain = {
  name: 'own',
  groups: { dataset: 'd', candidates: 'c', scoring: 's' },
  extends: 'common.yaml',
  evaluation: { baseline: 'words' },
  arms: { more: { from: 'words', then: [{ blend: { trajectory: { weight: 0.2 } } }] } },
};
const fade = (halfLifeHours: number): Plain => ({
  arms: { faded: { from: 'pool', then: [{ decay: { halfLifeHours } }] } },
});

/** `path (file): got` of every fault, once the own file has been changed. */
function listChangeFaults(changes: Plain, ...overrides: string[]): string[] {
  write({ 'own.yaml': merge(own, changes) });
  try {
    loadConfig(join(root, 'own.yaml'), overrides);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.faults.map(({ path, file, got }) =>
      `${path}${file === undefined ? '' : ` (${file})`}: ${got}`.replaceAll(`${root}/`, ''),
    );
  }
}

beforeAll(() =>
  write({
    'common.yaml': { seed: 5, arms: { words: [{ search: { bm25: { k: 3 } } }] } },
    'groups/candidates/c.yaml': { arms: { pool: [{ search: { bm25: { k: 3 } } }] } },
    'groups/dataset/d.yaml': { dataset: { name: 'spamassassin-threads' }, embedding: { encoder: 'lsa' } },
    'groups/scoring/s.yaml': fade(3),
    'groups/scoring/bad.yaml': fade(-1),
    'groups/dataset/bad.yaml': { dataset: { name: 'spamassassin-threads' }, embedding: { encoder: 'lsi' } },
  }),
);

test('the files together are a config', () => {
  expect(listChangeFaults({})).toEqual([]);
  const { arms, seed } = loadConfig(join(root, 'own.yaml'));
  expect(seed).toBe(5);
  expect(arms.map((arm) => [arm.name, arm.extends, arm.steps, arm.decay])).toEqual([
    ['words', undefined, ['search'], undefined],
    ['pool', undefined, ['search'], undefined],
    ['faded', 'pool', ['search', 'decay'], { halfLifeHours: 3 }],
    ['more', 'words', ['search', 'blend'], undefined],
  ]);
});

describe('a fault names the file that wrote the value, and its path there', () => {
  test('a group, once, however many arms take the value over', () => {
    const arms = { a: { from: 'faded' }, b: { from: 'a' }, c: { from: 'faded', set: { 'bm25.k': 3 } } };
    expect(listChangeFaults({ groups: { scoring: 'bad' }, arms })).toEqual([
      'arms.faded.then[0].decay.halfLifeHours (groups/scoring/bad.yaml): -1',
    ]);
    expect(listChangeFaults({ groups: { dataset: 'bad' } })).toEqual([
      'embedding.encoder (groups/dataset/bad.yaml): "lsi"',
    ]);
  });

  test('an extended file', () => {
    write({ 'first.yaml': { arms: { zero: [{ search: { bm25: {} } }] } } });
    write({ 'second.yaml': { arms: { one: { from: 'zero', then: [{ decay: { halfLifeHours: 'x' } }] } }, sede: 3 } });
    const files = { extends: ['first.yaml', 'common.yaml', 'second.yaml'] };
    expect(listChangeFaults(files)).toEqual([
      'arms.one.then[0].decay.halfLifeHours (second.yaml): "x"',
      'sede (second.yaml): unknown key "sede"',
    ]);
  });

  test('a list of steps in one file, which another joins with values', () => {
    write({ 'wrong.yaml': { arms: { words: [{ search: { bm25: { k: 0 } } }] } } });
    const files = { extends: ['common.yaml', 'wrong.yaml'] };
    const arms = { words: { set: { 'bm25.b': 7 } } };
    expect(listChangeFaults({ ...files, arms })).toEqual([
      'arms.words[0].search.bm25.k (wrong.yaml): 0',
      'arms.words.set.bm25.b: 7',
    ]);
  });

  test('the file that was asked for goes without', () => {
    expect(listChangeFaults({ seed: 'x', arms: { words: [{ search: { bm25: { k: 0 } } }] } })).toEqual([
      'seed: "x"',
      'arms.words[0].search.bm25.k: 0',
    ]);
  });

  test('an override', () => {
    expect(listChangeFaults({}, 'seed=x', 'arms.words.set.bm25.k=0', 'arms.faded.set.decay.halfLifeHours=-2')).toEqual([
      'seed (--set): "x"',
      'arms.words.set.bm25.k (--set): 0',
      'arms.faded.set.decay.halfLifeHours (--set): -2',
    ]);
  });

  test('a key missing in a step is reported at the step', () => {
    write({ 'lacking.yaml': { arms: { lacking: [{ search: { run: {} } }] } } });
    expect(listChangeFaults({ extends: ['common.yaml', 'lacking.yaml'] })).toEqual([
      'arms.lacking[0].search.run.path (lacking.yaml): nothing',
    ]);
  });

  test('steps that do not fit together are reported at the arm, and not at those that start from it', () => {
    const arms = {
      x: { from: 'words', then: [{ 'search+': { newest: {} } }] },
      y: { from: 'x' },
      z: { from: 'y', set: { 'bm25.k': 5 } },
    };
    expect(listChangeFaults({ arms })).toEqual(['arms.x: ["search"]']);
  });

  test('a key that another has the place of, in an arm and at the top', () => {
    write({ 'former.yaml': { base: {}, arms: { former: { from: 'words', candidates: [] } } } });
    expect(listChangeFaults({ extends: ['common.yaml', 'former.yaml'], scoring: { weights: 'x' } })).toEqual([
      'base (former.yaml): the key "base"',
      'scoring: the key "scoring"',
      'arms.former.candidates (former.yaml): "candidates"',
    ]);
  });
});

describe('a fault of a sweep stands where the sweep is written', () => {
  const buildGridSweep = (changes: Plain) => ({ sweep: { method: 'grid', arm: 'more', ...changes } });

  test('a value out of range, once, however many arms have it', () => {
    const factors = { 'blend.trajectory.weight': [0.1, 7], 'bm25.k': [1, 2, 3] };
    expect(listChangeFaults(buildGridSweep({ factors }))).toEqual(['sweep.factors.blend.trajectory.weight[1]: 7']);
  });

  test('a misspelt path, once for all its values', () => {
    const factors = { 'blend.trajectory.wieght': [0.1, 0.2], 'bm25.k': [1] };
    expect(listChangeFaults(buildGridSweep({ factors }))).toEqual([
      'sweep.factors.blend.trajectory.wieght: unknown key "wieght"',
    ]);
  });

  test('a level by name, and a tuned value of one', () => {
    const factors = {
      fading: {
        fast: { decay: { halfLifeHours: 'x' } },
        short: { decay: -1 },
        tuned: { decay: {}, tune: { 'decay.halfLifeHours': [1, 0] } },
      },
    };
    expect(listChangeFaults(buildGridSweep({ factors }))).toEqual([
      'sweep.factors.fading.fast.decay.halfLifeHours: "x"',
      'sweep.factors.fading.short.decay: -1',
      'sweep.factors.fading.tuned.tune.decay.halfLifeHours[1]: 0',
    ]);
  });

  test('the end of an interval, whatever is drawn from it', () => {
    const factors = { b: { path: 'bm25.b', low: 0, high: 1.00001 } };
    expect(listChangeFaults(buildGridSweep({ method: 'random', samples: 2, factors }))).toEqual([
      'sweep.factors.b.high: 1.00001',
    ]);
  });

  test('parts of a number where whole ones are asked for', () => {
    const factors = { k: { path: 'bm25.k', low: 1, high: 9 } };
    expect(listChangeFaults(buildGridSweep({ method: 'random', samples: 5, factors }))).toEqual([
      expect.stringMatching(/^sweep\.factors\.k: \d\.\d+$/),
    ]);
  });

  test('levels that do not fit together, reported for the first arm with them', () => {
    const fuse = { ranks: { fuse: { rrf: { bm25: 1, hnsw: 1 } } }, words: { fuse: { only: 'bm25' } } };
    expect(listChangeFaults(buildGridSweep({ factors: { fuse, 'bm25.k': [3, 5] } }))).toEqual([
      'sweep.factors.fuse.ranks.fuse.rrf.hnsw: 1',
    ]);
    const sources = { more: { search: { newest: {}, hnsw: {} } } };
    expect(listChangeFaults(buildGridSweep({ factors: { sources, 'bm25.k': [3, 5] } }))).toEqual([
      'sweep: arm "more | sources=more, bm25.k=3": blend: {"trajectory":{"weight":0.2}}',
    ]);
    const others = { theirs: { search: { run: {} }, fuse: 'pool-rrf' } };
    expect(listChangeFaults(buildGridSweep({ factors: { others, 'bm25.k': [3, 5] } }))).toEqual([
      'sweep.factors.others.theirs.search.run.path: nothing',
    ]);
  });

  test('an error of the arm that it starts from is reported only there', () => {
    const arms = { more: { from: 'words', then: [{ blend: { trajectory: { weight: 2 } } }] } };
    expect(listChangeFaults({ ...buildGridSweep({ factors: { 'bm25.k': [1] } }), arms })).toEqual([
      'arms.more.then[0].blend.trajectory.weight: 2',
    ]);
  });

  test('several of them at once, with those of other parts, in their files', () => {
    write({ 'swept.yaml': buildGridSweep({ factors: { x: 3, 'blend.trajectory.weight': [3], 'bm25.k': ['y'] } }) });
    const changes = { extends: ['common.yaml', 'swept.yaml'], evaluation: { baseline: 'more | x=3' } };
    expect(listChangeFaults(changes, 'sweep.arm=more', 'seed=x')).toEqual([
      'sweep.factors.x (swept.yaml): 3',
      'seed (--set): "x"',
      'sweep.factors.blend.trajectory.weight[0] (swept.yaml): 3',
      'sweep.factors.bm25.k[0] (swept.yaml): "y"',
    ]);
  });
});

test.each([
  ['nowhere.safetensors', 'arms.mixed.then[0].mix: "nowhere.safetensors"'],
  [{ weights: 'nowhere.safetensors' }, 'arms.mixed.then[0].mix.weights: "nowhere.safetensors"'],
  [{}, 'arms.mixed.then[0].mix.weights: nothing'],
])('a weight file that is not there is one fault, not two: %o', (mix, fault) => {
  expect(listChangeFaults({ arms: { mixed: { from: 'words', then: [{ mix }] } } })).toEqual([fault]);
});
