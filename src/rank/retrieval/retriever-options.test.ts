import { describe, expect, test } from 'vitest';
import { check } from '../../core/validation/validation.ts';
import { PROPAGATION_PRESETS } from '../../ops/attention/presets.ts';
import { TRAJECTORY_DEFAULTS } from '../signals/trajectory-options.ts';
import { assertRetriever, retrieverOptions } from './retriever-options.ts';

const schema = retrieverOptions.superRefine(assertRetriever);
const least = { candidates: [{ index: 'bm25' }], relevance: { signals: ['bm25'] } };

/** `path: expected …, got …` of every fault. */
function listOptionFaults(options: object): string[] {
  const result = check(schema, { ...least, ...options });
  return 'faults' in result
    ? result.faults.map(({ path, expected, got }) => `${path}: expected ${expected}, got ${got}`)
    : [];
}

test('the least that an arm must say, and what it then does', () => {
  expect(retrieverOptions.parse(least)).toEqual({
    candidates: [{ index: 'bm25', k: 100, k1: 1.2, b: 0.75, variant: 'lucene', dropStopWords: false, stem: false }],
    relevance: { signals: ['bm25'], fusion: { method: 'convex', alpha: 0.8, theoreticalMinimum: [-1, 0] } },
    sameChannel: false,
    decay: null,
    trajectory: null,
    attention: null,
    propagation: null,
    selection: null,
    scoring: null,
    control: null,
  });
});

test('defaults are those of the paper', () => {
  const { decay, trajectory, attention } = retrieverOptions.parse({
    ...least,
    decay: {},
    trajectory: {},
    attention: { mechanism: 'unified' },
  });
  expect(decay).toEqual({ halfLifeHours: 24 });
  expect(trajectory).toEqual({ weight: 0.3, dimensions: 5, complexityScale: 'log', sigma: 1, weights: {} });
  expect(trajectory).toEqual(TRAJECTORY_DEFAULTS);
  expect(attention).toEqual({
    mechanism: 'unified',
    mode: 'directed',
    weight: 0.2,
    mix: { rcp: 0.4, ircp: 0.4, tpo: 0.2 },
    topology: 'ring',
    combine: 'multiplicative',
    self: 'include',
    decay: 0.5,
    temperature: 0.1,
  });
});

test('the method determines the options of a selection', () => {
  const parseSelection = (selection: object) => retrieverOptions.parse({ ...least, selection }).selection;
  expect(parseSelection({ method: 'mmr' })).toEqual({ method: 'mmr', k: 50, lambda: 0.7 });
  expect(parseSelection({ method: 'diversity-filter' })).toEqual({
    method: 'diversity-filter',
    k: 50,
    lambda: 0.7,
    marginalAbove: 0.3,
    scoreAbove: 0.9,
  });
});

test('several sources with index bm25 are fine where no signal is scored by one of them', () => {
  const two = [{ index: 'bm25' }, { index: 'bm25', k: 7 }];
  expect(listOptionFaults({ candidates: two, relevance: { signals: ['cosine'] } })).toEqual([]);
});

test('propagation is a preset by name, or written out', () => {
  const flat = { ...least, candidates: [{ index: 'bm25' }, { index: 'flat' }] };
  const preset = retrieverOptions.parse({ ...flat, propagation: { preset: 'framework' } });
  expect(preset.propagation).toEqual(PROPAGATION_PRESETS.framework);
  const written = retrieverOptions.parse({ ...flat, propagation: { beta: 0.7, direction: 'causal' } });
  expect(written.propagation).toMatchObject({ beta: 0.7, direction: 'causal', topology: 'ring' });
  // What tuning has resolved is read again.
  expect(retrieverOptions.parse(preset)).toEqual(preset);
});

describe('an error is reported for', () => {
  test.each([
    ['no source', { candidates: [], relevance: { signals: ['recency'] } }, 'candidates: expected array >= 1, got []'],
    ['no signal', { relevance: { signals: [] } }, 'relevance.signals: expected array >= 1, got []'],
    ['a share above 1', { trajectory: { weight: 1.5 } }, 'trajectory.weight: expected number <= 1, got 1.5'],
    ['a half-life of 0', { decay: { halfLifeHours: 0 } }, 'decay.halfLifeHours: expected number > 0, got 0'],
    [
      'a dimension that is none',
      { trajectory: { dimensions: 4 } },
      'trajectory.dimensions: expected 3 or 5 or 7, got 4',
    ],
    [
      'a coordinate that is none',
      { trajectory: { weights: { dept: 1 } } },
      'trajectory.weights.dept: expected one of depth, siblingOrder, homogeneity, temporal, complexity, branchFactor, childrenCount, got unknown key "dept"',
    ],
    [
      'a mix that is not whole',
      { attention: { mechanism: 'unified', mix: { rcp: 1 } } },
      'attention.mix: expected shares that sum to 1 within 0.01, with their defaults {"rcp":1,"ircp":0.4,"tpo":0.2}, got {"rcp":1}',
    ],
    [
      'a share of relevance above 1',
      { selection: { method: 'mmr', lambda: 1.5 } },
      'selection.lambda: expected number <= 1, got 1.5',
    ],
    [
      'a bound that maximal marginal relevance does not have',
      { selection: { method: 'mmr', scoreAbove: 1 } },
      'selection.scoreAbove: expected one of method, k, duplicateAbove, lambda, got unknown key "scoreAbove"',
    ],
    [
      'a selection that is none',
      { selection: { method: 'mrr' } },
      'selection.method: expected "mmr" or "diversity-filter" or "node-distance" or "mentions" or "cross-encoder", got "mrr"',
    ],
    [
      'a signal without its source',
      { candidates: [{ index: 'newest' }] },
      'candidates: expected a source with index bm25, since bm25 is a signal, got [{"index":"newest"}]',
    ],
    [
      'a signal whose source is not told',
      { candidates: [{ index: 'bm25' }, { index: 'bm25', k: 7 }] },
      'candidates: expected one source with index bm25, whose options score the signal, got [{"index":"bm25"},{"index":"bm25","k":7}]',
    ],
    [
      'propagation that nothing searches',
      { propagation: { preset: 'published' } },
      'candidates: expected a source with index flat, which alone knows propagated embeddings, got [{"index":"bm25"}]',
    ],
    [
      'signals in the wrong order for convex',
      { relevance: { signals: ['bm25', 'cosine'] } },
      'relevance.signals: expected [cosine, bm25], the order that the convex combination asks for, or weights of the fusion by name, got ["bm25","cosine"]',
    ],
    [
      'a signal twice',
      { relevance: { signals: ['bm25', 'bm25'], fusion: { method: 'rrf' } } },
      'relevance.signals: expected each signal once, got ["bm25","bm25"]',
    ],
    [
      'a list that no source finds',
      { relevance: { signals: ['bm25', 'cosine'], fusion: { method: 'rrf' } } },
      'candidates: expected a source with index hnsw or flat or pgvector or semantic, whose list rrf fuses as cosine; or fusion method pool-rrf, which needs no lists, got [{"index":"bm25"}]',
    ],
    [
      'a weight of another signal',
      { relevance: { signals: ['bm25', 'cosine'], fusion: { method: 'pool-rrf', weights: { recency: 2 } } } },
      'relevance.fusion.weights.recency: expected a signal of the arm (bm25, cosine), got 2',
    ],
    [
      'a merge that does not weigh every signal',
      { relevance: { signals: ['bm25', 'cosine'], fusion: { method: 'weighted', weights: { cosine: 1 } } } },
      'relevance.fusion.weights: expected a weight of each signal, also of bm25, got {"cosine":1}',
    ],
    [
      'a convex combination that does not weigh every signal',
      { relevance: { signals: ['bm25', 'cosine'], fusion: { method: 'convex', weights: { cosine: 1 } } } },
      'relevance.fusion.weights: expected a weight of each signal, also of bm25, got {"cosine":1}',
    ],
    [
      'a share of the dense signal beside weights',
      {
        relevance: {
          signals: ['bm25', 'cosine'],
          fusion: { method: 'convex', alpha: 0.5, weights: { cosine: 1, bm25: 1 } },
        },
      },
      'relevance.fusion.alpha: expected no alpha beside weights, or 0.8, got 0.5',
    ],
    [
      'a preset for two',
      { relevance: { signals: ['bm25', 'cosine', 'recency'], fusion: { method: 'weighted' } } },
      'relevance.fusion.weights: expected the weight of each of 3 signals; a preset has two, got nothing',
    ],
  ])('%s', (_, options, fault) => {
    expect(listOptionFaults(options)).toEqual([fault]);
  });

  test('each of several at once', () => {
    const faults = listOptionFaults({
      decay: { halflife: 1 },
      trajectory: { sigma: 'wide' },
      sameChannel: 'yes',
      propagation: 3,
    });
    expect(faults).toHaveLength(4);
    expect(faults.map((fault) => fault.split(':')[0])).toEqual(
      expect.arrayContaining(['decay.halflife', 'trajectory.sigma', 'sameChannel', 'propagation']),
    );
  });
});

test.each([
  ['a weight of one signal', { method: 'rrf', weights: { recency: 0.5 } }],
  ['weights for each signal', { method: 'weighted', weights: { recency: 0.5, bm25: 0.25, cosine: 0.25 } }],
  ['weights of a convex combination', { method: 'convex', weights: { recency: 0.5, bm25: 1, cosine: 0 } }],
  ['a method without weights', { method: 'combsum' }],
])('nothing is wrong with %s', (_, fusion) => {
  const candidates = [{ index: 'bm25' }, { index: 'hnsw' }, { index: 'newest' }];
  expect(listOptionFaults({ candidates, relevance: { signals: ['bm25', 'cosine', 'recency'], fusion } })).toEqual([]);
});

test('a weight of a coordinate that the dimensions lack is an error', () => {
  const weights = { temporal: 2, complexity: 1 };
  expect(listOptionFaults({ trajectory: { dimensions: 5, weights } })).toEqual([]);
  expect(listOptionFaults({ trajectory: { dimensions: 3, weights } })).toEqual([
    'trajectory.weights.complexity: expected a coordinate of 3 (depth, temporal, homogeneity), got 1',
  ]);
});

describe('a mix of signals', () => {
  const weights = { 'bm25@share': 0.5, 'decay.24h': -1 };

  test('has the whole bank and no origin where nothing is said of them', () => {
    const { scoring } = retrieverOptions.parse({ ...least, scoring: { weights } });
    expect(scoring).toEqual({
      signals: { groups: ['text', 'form', 'time', 'thread', 'channel', 'author', 'structure'], encoders: [] },
      weights,
      origin: null,
    });
    expect(listOptionFaults({ scoring: { weights } })).toEqual([]);
  });

  test.each<[string, object, string[]]>([
    [
      'a signal that is none',
      { weights: { 'bm25@shares': 1, zzzzzzzzzzzz: 1 } },
      [
        'scoring.weights.bm25@shares: expected a signal of the bank, such as bm25@share, got 1',
        'scoring.weights.zzzzzzzzzzzz: expected a signal of the bank, got 1',
      ],
    ],
    [
      'a signal of a group that the bank has not',
      { signals: { groups: ['time'] }, weights },
      ['scoring.weights.bm25@share: expected a signal of the bank, got 0.5'],
    ],
    [
      'a cosine of an encoder that the bank has not',
      { signals: { encoders: [{ encoder: 'lsa' }] }, weights: { 'cosine.lsa-2': 1 } },
      ['scoring.weights.cosine.lsa-2: expected a signal of the bank, such as cosine.lsa, got 1'],
    ],
    [
      'a weight that is no number',
      { weights: { bm25: 'much' } },
      ['scoring.weights.bm25: expected number, got "much"'],
    ],
  ])('is refused for %s', (_, scoring, faults) => {
    expect(listOptionFaults({ scoring })).toEqual(faults);
  });

  test.each([
    ['decay', {}],
    ['trajectory', {}],
    ['attention', { mechanism: 'rcp' }],
  ])('is refused beside %s', (part, options) => {
    const [fault, ...others] = listOptionFaults({ scoring: { weights }, [part]: options });
    expect(fault).toContain(`${part}: expected null, since scoring takes its place, got {`);
    expect(others).toEqual([]);
  });
});
