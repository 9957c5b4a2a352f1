import { beforeAll, describe, expect, test } from 'vitest';
import type { ConfigurationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createSampleWorkspace, drawSampleWorld } from '../signals/corpus.fixture.ts';
import { SAMPLE_ARMS, type SampleArm } from './arms.fixture.ts';
import { retrieve } from './retriever.ts';
import { parseSteps } from './written-steps.ts';

/** An arm of steps in the order of its keys. */
const toList = (steps: object) => Object.entries(steps).map(([name, options]) => ({ [name]: options }));

const listFaults = (steps: object) => {
  try {
    parseSteps(toList(steps));
  } catch (error) {
    return (error as ConfigurationError).faults.map(({ path, expected }) => `${path}: ${expected}`);
  }
  return [];
};

const sources = { bm25: { k: 19 }, hnsw: { k: 13 }, newest: { k: 7 } };
const flat = { bm25: { k: 19 }, flat: { k: 13 }, newest: { k: 7 } };
const convex = { convex: { hnsw: 0.8, bm25: 'rest' } };
const decayed = { search: sources, fuse: convex, decay: 31 };
const placed = { ...decayed, blend: { trajectory: {} } };
const graph = { k: 11 };

/** The same arms in both forms. */
const SAME: readonly (readonly [SampleArm, object])[] = [
  ['newest', { search: { newest: { k: 23 } } }],
  ['bm25', { search: { words: { index: 'bm25', k: 23 } } }],
  ['cosine, hnsw', { search: { hnsw: { k: 23 } }, fuse: { only: 'hnsw' } }],
  ['same channel', { search: sources, filter: 'channel = $query.channel', fuse: convex }],
  ['hybrid', { search: sources, fuse: convex }],
  [
    'hybrid and graph, weights by name',
    { search: { ...sources, graph }, fuse: { convex: { hnsw: 0.5, bm25: 0.3, graph: 'rest' } } },
  ],
  ['hybrid and graph, ranks', { search: { ...sources, graph }, fuse: { rrf: { bm25: 1, hnsw: 1, graph: 2, k: 60 } } }],
  ['hybrid, ranks', { search: sources, fuse: 'rrf' }],
  ['hybrid, ranks of the pool', { search: sources, fuse: { 'pool-rrf': { bm25: 1, hnsw: 1 } } }],
  ['hybrid, weights', { search: sources, fuse: { weighted: { hnsw: 0.6, bm25: 0.4 } } }],
  ['by strategy', { search: sources, score: { strategy: {} }, fuse: { only: 'strategy' } }],
  [
    'by strategy, uniform, with words',
    {
      search: sources,
      score: { strategy: { weights: 'uniform' } },
      fuse: { weighted: { strategy: 0.7, bm25: 0.3 } },
    },
  ],
  ['decay', decayed],
  ['trajectory, 3', { ...decayed, blend: { trajectory: { dimensions: 3, sigma: 0.7 } } }],
  ['ircp, directed', { ...decayed, blend: { trajectory: {}, ircp: { mode: 'directed' } } }],
  ['tpo', { ...decayed, blend: { trajectory: 0.3, tpo: 0.2 } }],
  ['attention alone', { search: sources, fuse: convex, blend: { unified: { mode: 'directed' } } }],
  [
    'propagation, published',
    {
      propagate: 'published',
      search: flat,
      fuse: { convex: { flat: 0.8, bm25: 'rest' } },
      decay: 31,
      blend: { trajectory: {} },
    },
  ],
  ['mmr', { ...placed, select: { mmr: { k: 11, lambda: 0.6 } } }],
  ['most mentioned', { search: sources, fuse: convex, rerank: { mentions: { k: 11, among: 'turns' } } }],
  [
    'mix of words',
    { search: sources, mix: { signals: { groups: ['text'] }, weights: { 'bm25@share': 1, 'cosine@next': 0.3 } } },
  ],
];

describe('steps', () => {
  beforeAll(() => useBackend('wasm'));
  const world = drawSampleWorld(7);

  test.each(SAME)('give the scores of the keys of arm %s', async (name, steps) => {
    const workspace = createSampleWorkspace(world);
    const [written, keyed] = [
      await retrieve(workspace, parseSteps(toList(steps))),
      await retrieve(workspace, SAMPLE_ARMS[name]),
    ];
    workspace.dispose();
    expect(written.pool.positions).toEqual(keyed.pool.positions);
    expect(written.scores).toEqual(keyed.scores);
  });

  test('parse to what they parse to', () => {
    for (const [, steps] of SAME) {
      const { steps: order, control: _, ...parsed } = parseSteps(toList(steps)) as unknown as Record<string, object>;
      const again = parseSteps((order as unknown as string[]).map((name) => ({ [name]: parsed[name] })));
      expect(again).toEqual({ ...parsed, steps: order, control: null });
    }
  });
});

describe('an arm is refused', () => {
  test.each([
    ['without a search', { decay: 3 }, ['decay: after a step that gives scores, not after nothing, which gives turns']],
    [
      'whose columns nobody fuses',
      { search: sources, decay: 3 },
      [
        'decay: after a step that gives scores, not after search, which gives pool; fuse the columns bm25, hnsw, newest before it',
      ],
    ],
    [
      'that ends in columns',
      { search: sources },
      ['steps: a step fuse or mix, since there are 3 columns: bm25, hnsw, newest'],
    ],
    [
      'that selects twice',
      { search: { bm25: {} }, select: 'mmr', rerank: 'mentions' },
      ['rerank: after a step that gives scores, not after select, which gives ranking'],
    ],
    [
      'that fuses a column that there is not',
      { search: sources, fuse: { rrf: { bm52: 1 } } },
      ['fuse.rrf.bm52: a column of the arm (bm25, hnsw, newest)'],
    ],
    [
      'with two fusions',
      { search: sources, fuse: { rrf: {}, convex: {} } },
      [expect.stringContaining('fuse: one method: only, ')],
    ],
    [
      'whose convex combination has no weights',
      { search: sources, fuse: 'convex' },
      ['fuse.convex: the weight of each column by its name (bm25, hnsw, newest)'],
    ],
    [
      'that fuses the list of a signal without one',
      { search: sources, score: { strategy: {} }, fuse: 'rrf' },
      [expect.stringContaining('columns of sources, whose lists rrf fuses; strategy is of none')],
    ],
    [
      'that weighs what has no weights',
      { search: sources, fuse: { combsum: { bm25: 2 } } },
      ['fuse.combsum: 1 for each column, since combsum has no weights'],
    ],
    [
      'with a wrong option',
      { search: { hnsw: { efSaerch: 3 } } },
      [expect.stringMatching(/^search\.hnsw\.efSaerch: one of index, k, m/)],
    ],
    [
      'with an unknown blend',
      { search: { bm25: {} }, blend: { rpc: 0.3 } },
      [expect.stringContaining('blend.rpc: one of trajectory, rcp')],
    ],
    [
      'with an unknown signal',
      { search: { bm25: {} }, score: { cosinus: {} } },
      [expect.stringContaining('score.cosinus: one of cosine, strategy')],
    ],
  ])('%s', (_, steps, faults) => expect(listFaults(steps)).toEqual(faults));
});

test('a list says of an item that is not one step, and of a step that stands twice, where it is', () => {
  const list = ['search', { decay: 3, boost: [] }, 'search'];
  expect(() => parseSteps(list)).toThrow(/\[1\]: expected one step.*[\s\S]*\[2\]: expected each step once/);
});
