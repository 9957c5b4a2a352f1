import { describe, expect, test } from 'vitest';
import { ConfigurationError } from '../../../core/errors/errors.ts';
import { PROPAGATION_PRESETS } from '../../../ops/attention/options.ts';
import { TRAJECTORY_DEFAULTS } from '../../signals/signal-options.ts';
import { parseArm } from '../arms.fixture.ts';
import type { WrittenSteps } from '../written-steps.ts';

const search = { bm25: {} };
const two = { bm25: {}, hnsw: {} };
const least = { search };

/** The resolved steps of an arm by their names. */
const resolve = (steps: object) => parseArm(steps) as unknown as WrittenSteps;

/** `path: expected …, got …` of every fault. */
function listOptionFaults(steps: object): string[] {
  try {
    parseArm({ ...least, ...steps });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return (error as ConfigurationError).faults.map(
      ({ path, expected, got }) => `${path}: expected ${expected}, got ${got}`,
    );
  }
  return [];
}

test('the least that an arm must say, and what it then does', () => {
  expect(resolve(least)).toEqual({
    search: {
      bm25: { index: 'bm25', k: 100, k1: 1.2, b: 0.75, variant: 'lucene', dropStopWords: false, stem: false },
    },
    steps: ['search'],
    control: null,
  });
});

test('defaults are those of the paper', () => {
  const { decay, blend } = resolve({ ...least, decay: {}, blend: { trajectory: {}, unified: {} } });
  expect(decay).toEqual({ halfLifeHours: 24 });
  const trajectory = { weight: 0.3, dimensions: 5, complexityScale: 'log', sigma: 1, weights: {} };
  expect(trajectory).toEqual(TRAJECTORY_DEFAULTS);
  expect(blend).toEqual({
    order: ['trajectory', 'unified'],
    trajectory,
    unified: {
      mode: 'directed',
      weight: 0.2,
      mix: { rcp: 0.4, ircp: 0.4, tpo: 0.2 },
      topology: 'ring',
      combine: 'multiplicative',
      self: 'include',
      decay: 0.5,
      temperature: 0.1,
    },
  });
});

test('the method determines the options of a selection', () => {
  const parseSelection = (select: unknown) => resolve({ ...least, select }).select;
  expect(parseSelection('mmr')).toEqual({ mmr: { k: 50, lambda: 0.7 } });
  expect(parseSelection({ 'diversity-filter': {} })).toEqual({
    'diversity-filter': { k: 50, lambda: 0.7, marginalAbove: 0.3, scoreAbove: 0.9 },
  });
});

test('several sources of one index have a column each', () => {
  const several = { words: { index: 'bm25' }, stems: { index: 'bm25', k: 7, stem: true } };
  expect(listOptionFaults({ search: several, fuse: { rrf: { words: 1, stems: 0.5 } } })).toEqual([]);
  expect(listOptionFaults({ search: several, fuse: { only: 'stems' } })).toEqual([]);
});

test('propagation is a preset by name, or written out', () => {
  const flat = { search: { bm25: {}, flat: {} }, fuse: { only: 'flat' } };
  const preset = resolve({ propagate: 'framework', ...flat });
  expect(preset.propagate).toEqual(PROPAGATION_PRESETS.framework);
  const written = resolve({ propagate: { beta: 0.7, direction: 'causal' }, ...flat });
  expect(written.propagate).toMatchObject({ beta: 0.7, direction: 'causal', topology: 'ring' });
});

test('a filter is a text or a tree, and is resolved to one text', () => {
  const of = [
    { op: '=', field: 'kind', value: 'fact' },
    { op: '>', field: 'outcome', value: 1 },
  ];
  for (const filter of [`kind="fact" AND (outcome>1)`, { op: 'and', of }])
    expect(resolve({ filter, ...least }).filter).toBe("kind = 'fact' and outcome > 1");
});

describe('an error is reported for', () => {
  test.each([
    ['no source', { search: {} }, 'search: expected at least one source, got {}'],
    ['no column', { search: { entities: {} } }, expect.stringContaining('since there are 0 columns: none')],
    ['a share above 1', { blend: { trajectory: 1.5 } }, 'blend.trajectory: expected number <= 1, got 1.5'],
    ['a half-life of 0', { decay: { halfLifeHours: 0 } }, expect.stringMatching(/^decay.*number > 0/)],
    [
      'a dimension that is none',
      { blend: { trajectory: { dimensions: 4 } } },
      'blend.trajectory.dimensions: expected 3 or 5 or 7, got 4',
    ],
    [
      'a coordinate that is none',
      { blend: { trajectory: { weights: { dept: 1 } } } },
      'blend.trajectory.weights.dept: expected one of depth, siblingOrder, homogeneity, temporal, complexity, branchFactor, childrenCount, got unknown key "dept"',
    ],
    [
      'a mix that is not whole',
      { blend: { unified: { mix: { rcp: 1 } } } },
      'blend.unified.mix: expected shares that sum to 1 within 0.01, with their defaults {"rcp":1,"ircp":0.4,"tpo":0.2}, got {"rcp":1}',
    ],
    [
      'a share of relevance above 1',
      { select: { mmr: { lambda: 1.5 } } },
      'select.mmr.lambda: expected number <= 1, got 1.5',
    ],
    [
      'a bound that maximal marginal relevance does not have',
      { select: { mmr: { scoreAbove: 1 } } },
      expect.stringContaining('select.mmr.scoreAbove: expected one of method, k, duplicateAbove, lambda, got unknown'),
    ],
    [
      'a selection that is none',
      { select: 'mrr' },
      expect.stringContaining('select.mrr: expected one of mmr, diversity-filter, got unknown key "mrr"'),
    ],
    [
      'a reranking that is a selection',
      { rerank: 'mmr' },
      expect.stringContaining(
        'rerank.mmr: expected one of node-distance, mentions, cross-encoder, late, got unknown key "mmr"',
      ),
    ],
    ['a column without its source', { fuse: { only: 'hnsw' } }, expect.stringContaining('a column of the arm (bm25)')],
    [
      'a signal with the name of a source',
      { search: { cosine: { index: 'flat' } }, score: { cosine: {} }, fuse: { only: 'cosine' } },
      'score.cosine: expected a signal that no source is named as; give the source cosine another name, got {}',
    ],
    [
      'a merge that does not weigh a column',
      { search: two, fuse: 'weighted' },
      'fuse.weighted: expected the weight of each column by its name (bm25, hnsw), got nothing',
    ],
    [
      'a weight below 0',
      { search: two, fuse: { rrf: { bm25: -1, hnsw: 1 } } },
      expect.stringContaining('fuse.rrf.bm25: expected'),
    ],
    [
      'two rests',
      { search: two, fuse: { convex: { bm25: 'rest', hnsw: 'rest' } } },
      expect.stringContaining('fuse.convex: expected the weight rest once at most'),
    ],
  ])('%s', (_, steps, fault) => {
    expect(listOptionFaults(steps)).toEqual([fault]);
  });

  test('each of several at once', () => {
    const faults = listOptionFaults({
      filter: 'kind = fact',
      propagate: 3,
      decay: { halflife: 1 },
      blend: { trajectory: { sigma: 'wide' } },
    });
    const places = faults.map((fault) => fault.split(':')[0]);
    expect(new Set(places)).toEqual(new Set(['filter', 'propagate', 'decay.halflife', 'blend.trajectory.sigma']));
  });
});

test.each([
  ['a weight of one column, the others named', { rrf: { bm25: 1, hnsw: 1, newest: 0.5 } }],
  ['weights for each column', { weighted: { newest: 0.5, bm25: 0.25, hnsw: 0.25 } }],
  ['weights of a convex combination', { convex: { newest: 0.5, bm25: 1, hnsw: 0 } }],
  ['a rest', { convex: { newest: 0.25, hnsw: 'rest' } }],
  ['a method without weights', { combsum: {} }],
  ['a method by its name', 'combsum'],
])('nothing is wrong with %s', (_, fuse) => {
  expect(listOptionFaults({ search: { ...two, newest: {} }, fuse })).toEqual([]);
});

test('a weight of a coordinate that the dimensions lack is an error', () => {
  const weights = { temporal: 2, complexity: 1 };
  expect(listOptionFaults({ blend: { trajectory: { dimensions: 5, weights } } })).toEqual([]);
  const fault = 'expected a coordinate of 3 (depth, temporal, homogeneity), got 1';
  expect(listOptionFaults({ blend: { trajectory: { dimensions: 3, weights } } })).toEqual([
    `blend.trajectory.weights.complexity: ${fault}`,
  ]);
  expect(listOptionFaults({ blend: { tpo: { coordinates: { dimensions: 3, weights } } } })).toEqual([
    `blend.tpo.coordinates.weights.complexity: ${fault}`,
  ]);
});

describe('a mix of signals', () => {
  const weights = { 'bm25@share': 0.5, 'decay.24h': -1 };

  test('has the whole bank and no origin where nothing is said of them', () => {
    expect(resolve({ ...least, mix: { weights } }).mix).toEqual({
      signals: { groups: ['text', 'form', 'time', 'thread', 'channel', 'author', 'structure'], encoders: [] },
      weights,
      origin: null,
    });
    expect(listOptionFaults({ mix: { weights } })).toEqual([]);
  });

  test.each<[string, object, string[]]>([
    [
      'a signal that is none',
      { weights: { 'bm25@shares': 1, zzzzzzzzzzzz: 1 } },
      [
        'mix.weights.bm25@shares: expected a signal of the bank, such as bm25@share, got 1',
        'mix.weights.zzzzzzzzzzzz: expected a signal of the bank, got 1',
      ],
    ],
    [
      'a signal of a group that the bank has not',
      { signals: { groups: ['time'] }, weights },
      ['mix.weights.bm25@share: expected a signal of the bank, got 0.5'],
    ],
    [
      'a cosine of an encoder that the bank has not',
      { signals: { encoders: [{ encoder: 'lsa' }] }, weights: { 'cosine.lsa-2': 1 } },
      ['mix.weights.cosine.lsa-2: expected a signal of the bank, such as cosine.lsa, got 1'],
    ],
    ['a weight that is no number', { weights: { bm25: 'much' } }, ['mix.weights.bm25: expected number, got "much"']],
  ])('is refused for %s', (_, mix, faults) => {
    expect(listOptionFaults({ mix })).toEqual(faults);
  });

  test('is refused beside a fusion, whose place it takes', () => {
    const steps = { search: two, fuse: 'rrf', mix: { weights } };
    const [fault, ...others] = listOptionFaults(steps);
    expect(fault).toContain('mix: expected after a step that gives pool, not after fuse, which gives scores');
    expect(others).toEqual([]);
  });

  test('may be decayed and blended', () => {
    expect(listOptionFaults({ mix: { weights }, decay: 24, blend: { trajectory: {}, rcp: {} } })).toEqual([]);
  });
});
