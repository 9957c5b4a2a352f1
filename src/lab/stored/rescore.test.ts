import { describe, expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { stateShown } from '../../core/display/display.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { noteProgress } from '../../core/terminal/progress.harness.ts';
import type { Run } from '../../model/run.ts';
import { collapseJudgements, collapseRanking, type RescoreOptions, rescore, rescoreName } from './rescore.ts';
import type { StoredRun } from './stored-run.ts';

const asIs: RescoreOptions = {
  metrics: ['mrr@5'],
  relevantGrade: null,
  judgedOnly: false,
  unanswerableAre: 'apart',
  baseline: null,
  granularity: 'turn',
  test: 'permutation',
  correction: 'holm',
};

/** Turn `a1` is of conversation `a`. */
const turns = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'd1'];
const rankIds = (ids: string) => ids.split(' ').map((id, place) => ({ id, score: 9 - place }));
const buildRankedRun = (...rankings: string[]): Run => new Map(rankings.map((ids, q) => [`q${q}`, rankIds(ids)]));

/** Three queries with a turn of grade 3; the last one has only one of grade 1. */
const stored: StoredRun = {
  folder: 'x',
  repetitions: new Map(),
  superseded: null,
  summary: {
    experiment: 'test',
    hash: 'abc',
    baseline: 'base',
    statistics: { samples: 199, level: 0.9 },
    arms: [
      { name: 'base', description: '', tuned: {}, levels: null, control: null },
      { name: 'other', description: 'The other.', tuned: { x: 1 }, levels: null, control: null },
    ],
    failures: [],
    dataset: {
      name: 'handmade',
      task: '',
      features: [],
      licence: '',
      relevantGrade: 3,
      gradeNames: {},
      hash: 'data',
      split: 'test',
      facts: {},
    },
  },
  config: {
    description: 'A test.',
    evaluation: { depth: 11 },
    arms: [{ name: 'base' }, { name: 'other', decay: { halfLifeHours: 9 } }],
  },
  environment: {
    version: '0',
    commit: '0',
    node: 'v20',
    backend: 'cpu',
    packages: {},
    machine: { platform: '', cpu: '', cores: 1, memoryGiB: 1 },
    seed: 3,
    command: '',
  },
  queries: Array.from({ length: 4 }, (_, q) => ({
    id: `q${q}`,
    text: stateShown('x'),
    timestamp: q,
    author: null,
    channel: null,
    cluster: `c${q}`,
    kind: null,
    turnId: null,
  })),
  qrels: new Map([
    [
      'q0',
      new Map([
        ['a1', 3],
        ['a2', 1],
        ['b1', 0],
      ]),
    ],
    ['q1', new Map([['b2', 3]])],
    ['q2', new Map([['c1', 3]])],
    ['q3', new Map([['d1', 1]])],
  ]),
  runs: new Map([
    ['base', buildRankedRun('b1 a2 c1 a1', 'a1 b1 b2', 'c1', 'a1 d1')],
    ['other', buildRankedRun('d1 a1', 'b2', 'a1 a2 a3 b1 b2 c1', 'd1')],
  ]),
  conversations: new Map(turns.map((id) => [id, id.charAt(0)])),
  tokens: new Map(turns.map((id) => [id, Number(id.charAt(1))])),
};

const rescoreMeans = (options: Partial<RescoreOptions>) =>
  rescore(stored, { ...asIs, ...options }).arms.map(({ metrics }) =>
    Object.values(metrics).map(({ mean }) => Math.round(mean * 1e12) / 1e12),
  );
const roundToTwelveDigits = (...values: number[]) => values.map((value) => Math.round(value * 1e12) / 1e12);

describe('a stored run is measured', () => {
  test('as it was, where nothing else is asked for', () => {
    expect(rescoreMeans({})).toEqual([
      roundToTwelveDigits((1 / 4 + 1 / 3 + 1) / 3),
      roundToTwelveDigits((1 / 2 + 1 + 0) / 3),
    ]);
  });

  test('by names of other programs, which become those used here', () => {
    const { metrics, passports, remarks } = rescore(stored, { ...asIs, metrics: ['RR@10', 'nDCG@10', 'AP(rel=1)'] });
    expect(metrics).toEqual(['mrr@10', 'ndcg@10', 'map(rel=1)']);
    expect(Object.keys(passports)).toEqual(metrics);
    expect(passports['map(rel=1)']?.relevantGrade).toBe(1);
    expect(remarks).toEqual(['rescored as mrr-10-ndcg-10-map-rel-1']);
    expect(() => rescore(stored, { ...asIs, metrics: ['RR@10', 'mrr@10'] })).toThrow('metric is listed twice: mrr@10');
  });

  test('within a budget of tokens, as the folder counts them', () => {
    expect(rescoreMeans({ metrics: ['recall@3t', 'all@4t', 'err@2'] })).toEqual([
      roundToTwelveDigits((0 + 0 + 1) / 3, (0 + 1 + 1) / 3, (1 / 8 / 2 + 0 + 7 / 8) / 3),
      roundToTwelveDigits((1 + 1 + 0) / 3, (1 + 1 + 0) / 3, (7 / 8 / 2 + 7 / 8 + 0) / 3),
    ]);
    const { passports } = rescore(stored, { ...asIs, metrics: ['recall@3t', 'err@2', 'mrr@2'] });
    expect(passports['recall@3t']).toMatchObject({ cutoff: null, tokens: expect.stringContaining('words') });
    expect(passports['err@2']).toMatchObject({ cutoff: 2, highestGrade: 3 });
    expect(Object.keys(passports['mrr@2'] ?? {})).not.toContain('tokens');
    const budgeted = { ...asIs, metrics: ['recall@3t'] };
    expect(() => rescore({ ...stored, tokens: new Map() }, budgeted)).toThrow(
      'turns.jsonl has no tokens for recall@3t: x; run the experiment again',
    );
    expect(() => rescore(stored, { ...budgeted, granularity: 'conversation' })).toThrow(
      'a conversation has no tokens: recall@3t; use granularity turn or a cutoff in ranks',
    );
  });

  test('in other metrics', () => {
    expect(rescoreMeans({ metrics: ['mrr@10', 'p@2'] })).toEqual([
      roundToTwelveDigits((1 / 4 + 1 / 3 + 1) / 3, (0 + 0 + 1 / 2) / 3),
      roundToTwelveDigits((1 / 2 + 1 + 1 / 6) / 3, (1 / 2 + 1 / 2 + 0) / 3),
    ]);
  });

  test('with another grade as relevant, and then the last query counts too', () => {
    expect(rescoreMeans({ relevantGrade: 1 })).toEqual([
      roundToTwelveDigits((1 / 2 + 1 / 3 + 1 + 1 / 2) / 4),
      roundToTwelveDigits((1 / 2 + 1 + 0 + 1) / 4),
    ]);
  });

  test('with queries without a relevant turn among the others', () => {
    expect(rescoreMeans({ unanswerableAre: 'counted' })).toEqual([
      roundToTwelveDigits((1 / 4 + 1 / 3 + 1) / 4),
      roundToTwelveDigits(1.5 / 4),
    ]);
  });

  test('without unjudged turns', () => {
    // base: b1 a2 a1, then b2, c1; other: a1, b2, c1
    expect(rescoreMeans({ judgedOnly: true })).toEqual([roundToTwelveDigits((1 / 3 + 1 + 1) / 3), [1]]);
  });

  test('by conversation, each at its first turn', () => {
    // base: b a c, then a b, c; other: d a, then b, a b c
    expect(rescoreMeans({ granularity: 'conversation' })).toEqual([
      roundToTwelveDigits((1 / 2 + 1 / 2 + 1) / 3),
      roundToTwelveDigits((1 / 2 + 1 + 1 / 3) / 3),
    ]);
  });

  test('by superseded turns, if the folder names them, and by turn alone', () => {
    const superseded = new Map([['q0', new Map([['a2', 'a1']])]]);
    const metrics = ['stale@2', 'missing-replacement@2', 'correct-first'];
    const measure = (options: Partial<RescoreOptions> = {}) =>
      rescore({ ...stored, superseded }, { ...asIs, metrics, ...options }).arms.map(({ perQuery }) => perQuery);
    expect(measure()).toEqual([
      { 'stale@2': [1 / 2, 0, 0], 'missing-replacement@2': [1, 0, 0], 'correct-first': [0, 1, 1] },
      { 'stale@2': [0, 0, 0], 'missing-replacement@2': [0, 0, 0], 'correct-first': [1, 1, 1] },
    ]);
    // Unjudged c1 and d1 leave the ranking; a superseded document stays, judged or not.
    const unjudged = { ...stored, superseded: new Map([['q0', new Map([['c1', 'a1']])]]) };
    const [base] = rescore(unjudged, { ...asIs, metrics, judgedOnly: true }).arms;
    expect(base?.perQuery['stale@2']).toEqual([0, 0, 0]);
    expect(base?.perQuery['correct-first']).toEqual([0, 1, 1]);
    const message = 'metric needs the superseded documents of each query: stale@2';
    expect(() => measure({ granularity: 'conversation' })).toThrow(message);
    expect(() => rescore(stored, { ...asIs, metrics })).toThrow(message);
  });

  test('against another arm', () => {
    const { baseline, arms } = rescore(stored, { ...asIs, baseline: 'other' });
    expect(baseline).toBe('other');
    expect(arms[1]?.comparisons).toBeNull();
    expect(arms[0]?.comparisons?.['mrr@5']?.difference.mean).toBeCloseTo((1 / 4 + 1 / 3 + 1 - 1.5) / 3, 12);
    expect(() => rescore(stored, { ...asIs, baseline: 'othr' })).toThrow(ValidationError);
    expect(() => rescore(stored, { ...asIs, baseline: 'othr' })).toThrow('run has no arm: othr; use other');
  });
});

test('the passports say by what definitions, and the result what the run was', () => {
  const options: Partial<RescoreOptions> = { judgedOnly: true, unanswerableAre: 'counted', relevantGrade: 2 };
  const result = rescore(stored, { ...asIs, ...options, granularity: 'conversation' });
  expect(result.passports['mrr@5']).toMatchObject({
    granularity: 'conversation',
    relevantGrade: 2,
    judgedOnly: true,
    judgedAt: 1,
    queries: 4,
    unanswerable: 1,
    unanswerableAre: 'counted',
    dataHash: 'data',
  });
  expect(result.queries[0]?.judgements).toEqual({ a1: 3, a2: 1, b1: 0 });
  expect(result.unanswerable.map(({ id }) => id)).toEqual(['q3']);
  expect(result.arms[1]).toMatchObject({
    options: { decay: { halfLifeHours: 9 } },
    description: 'The other.',
    tuned: { x: 1 },
  });
  expect(result.statistics).toEqual({ samples: 199, level: 0.9, test: 'permutation', correction: 'holm' });
});

test.each([
  [
    'mrr@12',
    'the run stores 11 ranks, fewer than the metric needs: mrr@12; use a smaller cut-off or a larger evaluation.depth',
  ],
  ['mrr@11', 'metric is listed twice: mrr@11; list it once'],
  ['num_rel_ret', 'metric is a sum over the queries, not a mean: num_rel_ret; use recall@k'],
])('%s is refused', (metric, message) => {
  expect(() => rescore(stored, { ...asIs, metrics: ['mrr@11', metric] })).toThrow(
    expect.objectContaining({ name: 'ValidationError', message }),
  );
  expect(rescore(stored, { ...asIs, metrics: ['mrr@11'] }).metrics).toEqual(['mrr@11']);
});

test('a run that does not say how deep its rankings are is refused', () => {
  expect(() => rescore({ ...stored, config: {} }, asIs)).toThrow(
    'config.yaml has no evaluation.depth: x; run the experiment again',
  );
});

describe('collapsing to conversations', () => {
  test('keeps the order of a ranking with equal scores, which is that of the turns', () => {
    const equal = ['b1', 'a3', 'c1', 'a1'].map((id) => ({ id, score: 1 }));
    // c1, b1, a3, a1 by the tie rule
    expect(collapseRanking(equal, stored.conversations).map(({ id }) => id)).toEqual(['c', 'b', 'a']);
  });

  test('keeps the highest grade, and an unjudged turn unjudged', () => {
    const grades = new Map([
      ['a1', 1],
      ['a2', 3],
      ['a3', 0],
      ['b1', -1],
    ]);
    expect(collapseJudgements(grades, stored.conversations)).toEqual(
      new Map([
        ['a', 3],
        ['b', -1],
      ]),
    );
  });

  test('needs to know the conversation', () => {
    expect(() => collapseRanking([{ id: 'z9', score: 1 }], stored.conversations)).toThrow(
      'turns.jsonl has no turn: z9; run the experiment again',
    );
  });
});

test('the figures are shown as they are computed', () => {
  const { stages, progress } = noteProgress();
  rescore(stored, { ...asIs, metrics: ['mrr@5', 'map', 'p@2'] }, progress);
  expect(stages).toEqual([['statistics', 10, 10]]); // two for each of 2 arms and 3 metrics
});

test('every definition has a name of its own', () => {
  const changes: Partial<RescoreOptions>[] = [
    {},
    { metrics: ['mrr@5', 'ndcg@20'] },
    { relevantGrade: 1 },
    { judgedOnly: true },
    { unanswerableAre: 'counted' },
    { granularity: 'conversation' },
    { test: 't' },
    { correction: 'none' },
    { baseline: 'other' },
  ];
  const names = changes.map((change) => rescoreName({ ...asIs, ...change }));
  expect(new Set(names).size).toBe(changes.length);
  expect(names[1]).toBe('mrr-5-ndcg-20');
  expect(rescoreName({ ...asIs, relevantGrade: 2, judgedOnly: true })).toBe('mrr-5-grade-2-judged-only');
});

test('a notebook shows the figures of a rescored run', async () => {
  const shown = await readDisplay(rescore(stored, asIs));
  expect(shown['text/plain']).toMatch(/^test: \d queries\narm +.+\nbase \(baseline\) +[.\d]+ \[/);
});
