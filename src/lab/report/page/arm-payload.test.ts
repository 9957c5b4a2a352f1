import { describe, expect, test } from 'vitest';
import type { ArmResult, ExperimentResult } from '../../measure/result.ts';
import { buildHandmadeResult } from '../tables/result.fixture.ts';
import { type ArmContext, buildArmPayload } from './arm-payload.ts';

const values = [0.123_456_7, 1, 0.25];
const [sample] = buildHandmadeResult().arms as [ArmResult];
const result: ExperimentResult = {
  ...buildHandmadeResult(),
  queries: buildHandmadeResult().queries.slice(0, 3),
  strata: [
    {
      name: 'length',
      description: '',
      levels: [
        { name: 'short', queries: [0] },
        { name: 'long', queries: [1, 2] },
      ],
    },
  ],
};
const arm: ArmResult = {
  ...sample,
  levels: { weight: '0.5', window: '7' },
  perQuery: { 'mrr@10': values, 'recall@10': [0, 0, 1] },
  componentNames: ['cosine', 'decay'],
  rankings: [
    [
      { id: 'b', score: 0.987_654_3, components: [2, -1 / 3] },
      { id: 'a', score: 0.5, components: [0, 1] },
    ],
    [],
    [{ id: 'c', score: 1e-7, components: [1, 1] }],
  ],
  losses: [{ c: 'kept', gone: 'fusion' }, { a: 'fusion', b: 'candidates' }, {}],
  attribution: { fusion: 1, kept: 5 },
  strata: {
    length: {
      short: { 'mrr@10': { mean: 0.3, difference: null, p: null, correctedP: null } },
      long: {
        'mrr@10': { mean: 0.7, difference: { mean: 0.1, low: -0.2, high: 0.400_004_9 }, p: 0.5, correctedP: 0.9 },
      },
    },
  },
  latency: { pool: { p50: 1, p95: 2, p99: 3.000_004 }, total: { p50: 5, p95: 7, p99: 11 } },
};
const context: ArmContext = {
  positions: new Map([
    ['a', 2],
    ['b', 3],
    ['c', 5],
  ]),
  inspected: new Set([arm.name]),
  fates: ['kept', 'candidates', 'fusion'],
  factors: [
    { name: 'window', levels: ['5', '7'] },
    { name: 'weight', levels: ['0.25'] },
  ],
};
const payload = buildArmPayload(arm, result, context);

describe('an arm stands by position', () => {
  test('by its name, and whether it is a null control', () => {
    expect(payload).toMatchObject({ name: 'newest | <first>', control: false, components: ['cosine', 'decay'] });
    const control = { of: 'x', kind: 'random-parents' };
    expect(buildArmPayload({ ...arm, control }, result, context).control).toBe(true);
  });

  test('its figures by metric, to five digits', () => {
    expect(payload).toMatchObject({
      intervals: [
        [0.353, 0.331, 0.376],
        [0.0994, 0.0049, 0.2],
      ],
      differences: [
        [-0.143, -0.166, -0.12, 0.0004],
        [-0.0003, -0.02, 0.021, 1],
      ],
      verdicts: ['worse', 'undecided'],
      perQuery: [
        [0.12346, 1, 0.25],
        [0, 0, 1],
      ],
    });
  });

  test('its rankings and lost turns by query, those of turns that are not shown left out', () => {
    expect(payload.rankings).toEqual([[3, 0.98765, 2, -0.33333, 2, 0.5, 0, 1], [], [5, 1e-7, 1, 1]]);
    expect(payload.lost).toEqual([[5, 0], [2, 2, 3, 1], []]);
    expect(payload.fates).toEqual([5, 0, 1]);
  });

  test('its reasons by query, each sentence once; an arm without them has none', () => {
    const [[first, second] = [], ...others] = arm.rankings;
    const because = { reason: 'Recalled because it is important.' };
    const rankings = [
      [{ ...first!, ...because }, { ...second! }],
      ...others.map((all) => all.map((one) => ({ ...one, ...because }))),
    ];
    expect(buildArmPayload({ ...arm, rankings }, result, context)).toMatchObject({
      reasonTexts: [because.reason],
      reasons: [[0, -1], [], [0]],
    });
    expect(payload).toMatchObject({ reasonTexts: [], reasons: null });
  });

  test('its levels in the order of the factors, -1 for one that is none', () => {
    expect(payload.levels).toEqual([1, -1]);
  });

  test('its strata by stratum, level and metric', () => {
    expect(payload.strata).toEqual([
      [
        [[0.3, null, null, null, null], []],
        [[0.7, 0.1, -0.2, 0.4, 0.9], []],
      ],
    ]);
  });

  test('its evidence by budget', () => {
    const [mean, low, high] = [0.123_456_7, 0.1, 0.15];
    const one = { mean, low, high };
    const none = { mean: 1, low: null, high: null };
    const evidence = { budgets: [250, 500], recall: [one, one], ceiling: [one, none], area: one, ceilingArea: one };
    const curve = [0.123_46, 0.1, 0.15];
    expect(buildArmPayload({ ...arm, evidence }, result, context).evidence).toEqual({
      recall: [curve, curve],
      ceiling: [curve, [1, null, null]],
    });
    expect(payload.evidence).toBeNull();
  });

  test('the conservation of what was shown, by set', () => {
    const measured = {
      turns: [7, 9, 3],
      magnitude: [1, 1, 0.5],
      energy: [0.1, 0.2, 0.3],
      information: [2, 2.123_456_7, 1],
    };
    const figures = { ...measured, coherence: [0.2, 0.4, 0.6] };
    const conservation = {
      k: 5,
      weights: 'uniform',
      means: {},
      perQuery: { memory: figures, first: figures },
    } as const;
    expect(buildArmPayload({ ...arm, conservation }, result, context).conservation).toEqual({
      sets: ['memory', 'first 5'],
      coherence: [figures.coherence, figures.coherence],
      magnitude: [figures.magnitude, figures.magnitude],
      information: [
        [2, 2.1235, 1],
        [2, 2.1235, 1],
      ],
    });
    expect(payload.conservation).toBeNull();
  });

  test('its times by component', () => {
    expect(payload.latency).toEqual({ pool: [1, 2, 3.000_004], total: [5, 7, 11] });
  });
});

test('what an arm has not is not there: the baseline, of no sweep, not inspected, not timed', () => {
  const bare = { ...arm, levels: null, comparisons: null, latency: null };
  expect(buildArmPayload(bare, result, { ...context, inspected: new Set() })).toMatchObject({
    differences: [[], []],
    verdicts: ['undecided', 'undecided'],
    rankings: null,
    lost: null,
    levels: [],
    latency: null,
    fates: [5, 0, 1],
  });
});

test('of more than eight parts of a score all but the greatest seven are added up', () => {
  const contributionNames = Array.from({ length: 11 }, (_, part) => `part ${part}`);
  const contributions = contributionNames.map((_, part) => (part % 2 === 0 ? 1 : -0.5) * (11 - part));
  const rankings = [[{ id: 'b', score: 3, components: [2, 1], contributions }], [], []];
  const packed = buildArmPayload({ ...arm, contributionNames, rankings }, result, context);
  expect(packed.contributionNames).toEqual([...contributionNames.slice(0, 7), '4 others']);
  expect(packed.contributions).toEqual([[...contributions.slice(0, 7), -2 + 3 - 1 + 1], [], []]);
  const eight = { ...arm, contributionNames: contributionNames.slice(0, 8), rankings: [[], [], []] };
  expect(buildArmPayload(eight, result, context).contributionNames).toHaveLength(8);
});
