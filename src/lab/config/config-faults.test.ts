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
  groups: { dataset: 'd', scoring: 's' },
  extends: 'common.yaml',
  evaluation: { baseline: 'words' },
  arms: [{ name: 'more', extends: 'words', trajectory: { weight: 0.2 } }],
};
const scoring: Plain = { relevance: { signals: ['bm25'] }, decay: { halfLifeHours: 3 } };

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
    'common.yaml': { seed: 5, base: { candidates: [{ index: 'bm25', k: 3 }] }, arms: [{ name: 'words', decay: null }] },
    'groups/dataset/d.yaml': { dataset: { name: 'spamassassin-threads' }, embedding: { encoder: 'lsa' } },
    'groups/scoring/s.yaml': { base: scoring },
    'groups/scoring/bad.yaml': { base: merge(scoring, { decay: { halfLifeHours: -1 } }) },
    'groups/dataset/bad.yaml': { dataset: { name: 'spamassassin-threads' }, embedding: { encoder: 'lsi' } },
  }),
);

test('the files together are a config', () => {
  expect(listChangeFaults({})).toEqual([]);
  const { arms, seed } = loadConfig(join(root, 'own.yaml'));
  expect(seed).toBe(5);
  expect(arms.map(({ name, decay, trajectory }) => [name, decay, trajectory?.weight])).toEqual([
    ['words', null, undefined],
    ['more', null, 0.2],
  ]);
});

describe('a fault names the file that wrote the value, and its path there', () => {
  test('a group, once, however many arms take the value over', () => {
    const arms = [{ name: 'a' }, { name: 'b', extends: 'a' }, { name: 'c', decay: {} }];
    expect(listChangeFaults({ groups: { scoring: 'bad' }, arms })).toEqual([
      'base.decay.halfLifeHours (groups/scoring/bad.yaml): -1',
    ]);
    expect(listChangeFaults({ groups: { dataset: 'bad' } })).toEqual([
      'embedding.encoder (groups/dataset/bad.yaml): "lsi"',
    ]);
  });

  test('an extended file, in which an arm may have another place', () => {
    write({ 'first.yaml': { arms: [{ name: 'zero', decay: null }] } });
    write({ 'second.yaml': { arms: [{ name: 'one', decay: { halfLifeHours: 'x' } }], sede: 3 } });
    const files = { extends: ['first.yaml', 'common.yaml', 'second.yaml'] };
    expect(listChangeFaults(files)).toEqual([
      'arms[0].decay.halfLifeHours (second.yaml): "x"',
      'sede (second.yaml): unknown key "sede"',
    ]);
  });

  test('the file that was asked for goes without', () => {
    expect(listChangeFaults({ seed: 'x', arms: [{ name: 'words', decay: { halfLifeHours: 0 } }] })).toEqual([
      'seed: "x"',
      'arms[0].decay.halfLifeHours: 0',
    ]);
  });

  test('an override', () => {
    expect(listChangeFaults({}, 'seed=x', 'arms.words.decay.halfLifeHours=0', 'base.decay.halfLifeHours=-2')).toEqual([
      'seed (--set): "x"',
      'arms[0].decay.halfLifeHours (--set): 0',
      'base.decay.halfLifeHours (--set): -2',
    ]);
  });

  test('a key missing in an arm is reported at the arm', () => {
    write({ 'lacking.yaml': { arms: [{ name: 'lacking', attention: {} }] } });
    expect(listChangeFaults({ extends: ['common.yaml', 'lacking.yaml'] })).toEqual([
      'arms[0].attention.mechanism (lacking.yaml): nothing',
    ]);
  });

  test('parts of an arm that do not fit together are reported at the arm', () => {
    const arms = [
      { name: 'x', candidates: [{ index: 'newest' }] },
      { name: 'y', extends: 'x' },
    ];
    expect(listChangeFaults({ arms })).toEqual(['arms[0].candidates: [{"index":"newest"}]']);
  });
});

describe('a fault of a sweep stands where the sweep is written', () => {
  const buildGridSweep = (changes: Plain) => ({ sweep: { method: 'grid', arm: 'more', ...changes } });

  test('a value out of range, once, however many arms have it', () => {
    const factors = { 'trajectory.weight': [0.1, 7], 'decay.halfLifeHours': [1, 2, 3] };
    expect(listChangeFaults(buildGridSweep({ factors }))).toEqual(['sweep.factors.trajectory.weight[1]: 7']);
  });

  test('a misspelt path, once for all its values', () => {
    expect(
      listChangeFaults(buildGridSweep({ factors: { 'trajectory.wieght': [0.1, 0.2], sameChannel: [true] } })),
    ).toEqual(['sweep.factors.trajectory.wieght: unknown key "wieght"']);
  });

  test('a level by name, and a tuned value of one', () => {
    const factors = {
      fading: {
        fast: { decay: { halfLifeHours: 'x' } },
        tuned: { decay: {}, tune: { 'decay.halfLifeHours': [1, 0] } },
      },
    };
    expect(listChangeFaults(buildGridSweep({ factors }))).toEqual([
      'sweep.factors.fading.fast.decay.halfLifeHours: "x"',
      'sweep.factors.fading.tuned.tune.decay.halfLifeHours[1]: 0',
    ]);
  });

  test('the end of an interval, whatever is drawn from it', () => {
    const factors = { b: { path: 'candidates.0.b', low: 0, high: 1.00001 } };
    expect(listChangeFaults(buildGridSweep({ method: 'random', samples: 2, factors }))).toEqual([
      'sweep.factors.b.high: 1.00001',
    ]);
  });

  test('parts of a number where whole ones are asked for', () => {
    const factors = { k: { path: 'candidates.0.k', low: 1, high: 9 } };
    expect(listChangeFaults(buildGridSweep({ method: 'random', samples: 5, factors }))).toEqual([
      expect.stringMatching(/^sweep\.factors\.k: \d\.\d+$/),
    ]);
  });

  test('levels that do not fit together, reported for the first arm with them', () => {
    const factors = {
      'relevance.signals': [['bm25'], ['recency']],
      candidates: { few: { candidates: [{ index: 'newest' }] } },
    };
    expect(listChangeFaults(buildGridSweep({ factors }))).toEqual([
      'sweep.factors.candidates.few.candidates: [{"index":"newest"}]',
    ]);
    const signals = { 'relevance.signals': [['bm25', 'cosine'], ['bm25']] };
    expect(listChangeFaults(buildGridSweep({ factors: signals }))).toEqual([
      'sweep.factors.relevance.signals[0]: ["bm25","cosine"]',
    ]);
    const attention = { 'attention.weight': [0.1, 0.2], sameChannel: [true, false] };
    expect(listChangeFaults(buildGridSweep({ factors: attention }))).toEqual([
      'sweep: arm "more | attention.weight=0.1, sameChannel=true": attention.mechanism: nothing',
    ]);
  });

  test('an error of the arm that it starts from is reported only there', () => {
    const arms = [{ name: 'more', extends: 'words', trajectory: { weight: 2 } }];
    expect(listChangeFaults({ ...buildGridSweep({ factors: { sameChannel: [true] } }), arms })).toEqual([
      'arms[0].trajectory.weight: 2',
    ]);
  });

  test('several of them at once, with those of other parts, in their files', () => {
    write({ 'swept.yaml': buildGridSweep({ factors: { x: 3, 'trajectory.weight': [3], sameChannel: ['y'] } }) });
    const changes = { extends: ['common.yaml', 'swept.yaml'], evaluation: { baseline: 'more | x=3' } };
    expect(listChangeFaults(changes, 'sweep.arm=more', 'seed=x')).toEqual([
      'sweep.factors.x (swept.yaml): 3',
      'seed (--set): "x"',
      'sweep.factors.trajectory.weight[0] (swept.yaml): 3',
      'sweep.factors.sameChannel[0] (swept.yaml): "y"',
    ]);
  });
});

test.each([
  [{ weights: 'nowhere.safetensors' }, '"nowhere.safetensors"'],
  [{}, 'nothing'],
])('a weight file that is not there is one fault, not two: %o', (scoring, got) => {
  const found = listChangeFaults({ arms: [{ name: 'mixed', extends: 'words', scoring }] });
  expect(found).toEqual([`arms[0].scoring.weights: ${got}`]);
});
