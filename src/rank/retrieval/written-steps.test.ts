import { describe, expect, test } from 'vitest';
import type { ConfigurationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { ControlOptions } from '../signals/worlds/world-parts.ts';
import { parseArm, SAMPLE_ARMS } from './arms.fixture.ts';
import { STEPS } from './steps/keys.ts';
import { ARM_STATES, type ArmState } from './steps/step.ts';
import { parseSteps, readArm, type WrittenStep, type WrittenSteps } from './written-steps.ts';

const listListFaults = (list: readonly WrittenStep[]) => {
  try {
    parseSteps(list);
  } catch (error) {
    return (error as ConfigurationError).faults.map(({ path, expected }) => `${path}: ${expected}`);
  }
  return [];
};

const listFaults = (steps: object) => {
  try {
    parseArm(steps);
  } catch (error) {
    return (error as ConfigurationError).faults.map(({ path, expected }) => `${path}: ${expected}`);
  }
  return [];
};

const sources = { bm25: { k: 19 }, hnsw: { k: 13 }, newest: { k: 7 } };

test.each(Object.entries(SAMPLE_ARMS))('the steps of %s parse to what they parse to', (_, arm) => {
  const { steps, control, ...parsed } = arm as unknown as WrittenSteps & { readonly control: ControlOptions | null };
  const again = parseSteps(
    steps.map((name) => ({ [name]: parsed[name] })),
    control,
  );
  expect(again).toEqual({ ...parsed, steps, control });
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
      'whose propagation nothing searches',
      { propagate: 'published', search: { bm25: {} } },
      ['search: a source with index flat, which alone knows propagated embeddings'],
    ],
    [
      'that fuses a column that its graph alone would give',
      { search: { bm25: {} }, score: { cosine: {} }, fuse: { 'pool-rrf': { cosine: 1, graph: 1 } } },
      ['fuse.pool-rrf.graph: a column of the arm (bm25, cosine)'],
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
  expect(() => parseSteps(list)).toThrow(
    /\[1\]: expected one step.*[\s\S]*\[2\]: expected one search in an arm, which is at \[0\]/,
  );
});

test.each([
  [{ weighted: { bm25: 0.9, hnsw: 0.4 } }, 'fuse.weighted: weights that sum to 1 within 0.01'],
  [{ convex: { bm25: 1.2, hnsw: 'rest' } }, 'fuse.convex.hnsw: other weights whose sum is at most 1'],
])('weights that a method refuses are invalid at their path: %j', (fuse, expected) => {
  expect(listFaults({ search: { bm25: {}, hnsw: {} }, fuse })).toEqual([expected]);
});

test('arms whose blends are in another order have another hash, also when they are parsed again', () => {
  const search = { bm25: {} };
  const parseBlends = (blend: object) => parseSteps([{ search }, { blend }]);
  const arms = [parseBlends({ trajectory: 0.3, rcp: 0.2 }), parseBlends({ rcp: 0.2, trajectory: 0.3 })];
  const listBlends = (arm: (typeof arms)[number]) =>
    readArm(arm)
      .steps.map(({ name }) => name)
      .slice(-2);
  expect(arms.map(listBlends)).toEqual([
    ['trajectory', 'rcp'],
    ['rcp', 'trajectory'],
  ]);
  expect(computeHash(arms[0])).not.toBe(computeHash(arms[1]));
  const sorted = arms.map((arm) => Object.fromEntries(Object.entries(arm.blend as object).sort()));
  expect(sorted.map((blend) => listBlends(parseBlends(blend)))).toEqual(arms.map(listBlends));
});

/** What a step of each pair of states needs to stand at all, by the state that is there before it. */
const BEFORE: Readonly<Record<ArmState, readonly WrittenStep[]>> = {
  turns: [],
  pool: [{ search: sources }],
  scores: [{ search: sources }, { fuse: 'rrf' }],
  ranking: [{ search: sources }, { fuse: 'rrf' }, { select: 'mmr' }],
};
const LAST: Readonly<Record<ArmState, string>> = {
  turns: 'nothing',
  pool: 'search',
  scores: 'fuse',
  ranking: 'select',
};
const OPTIONS: Readonly<Record<string, unknown>> = {
  filter: "kind = 'a'",
  slice: { policy: { id: 'p' } },
  propagate: 'published',
  search: { flat: {} },
  score: { strategy: {} },
  fuse: 'rrf',
  mix: { weights: { bm25: 1 } },
  boost: [{ attribute: 'importance', factor: 1 }],
  curate: {},
  decay: 24,
  blend: { rcp: 0.2 },
  rerank: 'mentions',
  select: 'mmr',
  pack: 100,
};

describe.each(STEPS.members)('$name', ({ name, takes, gives }) => {
  test.each(ARM_STATES)('after a step that gives %s stands, or is an error that names both', (state) => {
    const list = [
      ...BEFORE[state],
      { [name]: OPTIONS[name] },
      ...(state === 'turns' && gives === null ? BEFORE.scores : []),
    ];
    const isThere = BEFORE[state].some((step) => Object.hasOwn(step as object, name));
    const found = listListFaults(list);
    if (takes.includes(state)) expect(found.filter((fault) => fault.includes('after a step'))).toEqual([]);
    else if (isThere) expect(found[0]).toMatch(new RegExp(`${name}.* in an arm, which is at \\[\\d\\]`));
    else
      expect(found[0]).toContain(
        `${name}: after a step that gives ${takes.join(' or ')}, not after ${LAST[state]}, which gives ${state}`,
      );
  });
});
