import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../../../core/numbers/random.ts';
import { groupIntoClusters } from '../../../eval/intervals/mean-intervals.ts';
import type { CorrectionName, TestName } from '../../../eval/significance/multiple-comparisons.ts';
import { computeClusteredTests } from '../../../eval/significance/significance.ts';
import type { Comparison } from '../../measure/result.ts';
import { readRunFigures } from '../../stored/run-figures.ts';
import { computeSmallestCorrectedP, computeSmallestP, describeDecisions, describeUndecidable } from './decision.ts';

type Verdict = Comparison['verdict'];
type Facts = Parameters<typeof describeDecisions>[0];

const statistics = { test: 'permutation', correction: 'holm', level: 0.95 } as const;

/** A comparison whose difference has a size and a verdict. */
function compare(verdict: Verdict, gain = 0.01, minimumDetectable: number | null = 0.03, wins = 0, losses = 0) {
  const mean = verdict === 'worse' ? -gain : gain;
  return {
    verdict,
    difference: { mean },
    minimumDetectable,
    clusterWins: wins,
    clusterLosses: losses,
    signFlipP: 0.03125,
  };
}

function say(arms: Facts['arms'], more: Partial<Facts> = {}): string[] {
  return describeDecisions({
    rows: 'arms',
    baseline: 'base',
    metrics: ['ndcg@10'],
    arms,
    statistics,
    conversations: 158,
    ...more,
  });
}

const arm = (name: string, ...comparisons: ReturnType<typeof compare>[]) => ({
  name,
  comparisons: Object.fromEntries(
    ['ndcg@10', 'mrr@10', 'recall@5'].slice(0, comparisons.length).map((m, i) => [m, comparisons[i]!]),
  ),
});
const others = (count: number, verdict: Verdict = 'undecided') =>
  Array.from({ length: count }, (_, at) => arm(`other ${at}`, compare(verdict, 0.001 * at)));

describe('the sentences of one metric', () => {
  test('name what is decided, and bound what is not', () => {
    expect(say([arm('propagation', compare('better')), ...others(12)])).toEqual([
      'On ndcg@10, propagation is better than base.',
      'The other 12 arms cannot be distinguished from base: the differences are below .030, the smallest that 158 conversations detect in each.',
    ]);
  });

  test('where all is decided, and for a single arm', () => {
    expect(say(others(3, 'worse'))).toEqual(['On ndcg@10, other 0, other 1 and other 2 are worse than base.']);
    expect(say(others(4, 'better'))).toEqual(['On ndcg@10, all 4 arms are better than base.']);
    expect(say([arm('cosine', compare('better')), arm('a, b', compare('worse'))])).toEqual([
      'On ndcg@10, cosine is better than base; "a, b" is worse.',
    ]);
    expect(say([arm('cosine', compare('undecided'))])).toEqual([
      'On ndcg@10, cosine cannot be distinguished from base: the difference is below .030, the smallest that 158 conversations detect.',
    ]);
  });

  test('where no arm is decided', () => {
    expect(say(others(4))).toEqual([
      'On ndcg@10, none of 4 arms can be distinguished from base: the differences are below .030, the smallest that 158 conversations detect in each.',
    ]);
  });

  test('the bound holds for every arm that it is said of: it is the largest of theirs', () => {
    const [, sentence] = say([
      arm('won', compare('better')),
      arm('near', compare('undecided', 0.001, 0.002)),
      arm('far', compare('undecided', 0.049, 0.06)),
    ]);
    expect(sentence).toContain('the differences are below .060, the smallest that 158 conversations detect in each.');
  });

  test('a difference that one test would find, and the correction does not, is stated', () => {
    expect(
      say([
        arm('won', compare('better')),
        arm('large', compare('undecided', 0.12, 0.11)),
        arm('small', compare('undecided')),
      ]),
    ).toEqual([
      'On ndcg@10, won is better than base.',
      'The other 2 arms cannot be distinguished from base: the largest difference is .120, and .110 the smallest that 158 conversations detect in each without a correction.',
    ]);
    expect(say([arm('large', compare('undecided', 0.03, 0.03))])[0]).toContain(
      'the difference is .030, and .030 the smallest',
    );
  });

  test('rounded figures are not said to be below each other', () => {
    expect(say([arm('close', compare('undecided', 0.02996, 0.03004))])[0]).not.toContain('below');
  });

  test('no bound without an interval, and none of arms that are the baseline in all but name', () => {
    expect(say([arm('a', compare('undecided', 0.01, null))])).toEqual([
      'On ndcg@10, a cannot be distinguished from base.',
    ]);
    expect(say([arm('a', compare('undecided', 0, 0))])[0]).toContain(': the difference is 0.');
  });

  test('null controls, the baseline and a table without a comparison say nothing', () => {
    const control = { ...arm('random', compare('worse')), control: { of: 'a', kind: 'random-parents' } };
    expect(say([arm('a', compare('better')), control, { name: 'base', comparisons: null }])).toEqual([
      'On ndcg@10, a is better than base.',
    ]);
    expect(say([control])).toEqual([]);
    expect(say([])).toEqual([]);
  });
});

describe('the sentences of several metrics', () => {
  const metrics = ['ndcg@10', 'mrr@10'];

  test('metrics that agree are one sentence', () => {
    expect(
      say([arm('a', compare('better'), compare('better')), arm('b', compare('undecided'), compare('undecided'))], {
        metrics,
      }),
    ).toEqual([
      'On every metric, a is better than base.',
      'b cannot be distinguished from base: the difference on ndcg@10 is below .030, the smallest that 158 conversations detect.',
    ]);
  });

  test('what another metric decides otherwise follows, in either direction', () => {
    const arms = [
      arm('a', compare('better'), compare('worse')),
      arm('b', compare('undecided'), compare('better')),
      arm('c', compare('undecided'), compare('undecided')),
    ];
    expect(say(arms, { metrics })).toEqual([
      'On ndcg@10, a is better than base.',
      'The other 2 arms cannot be distinguished from base: the differences on ndcg@10 are below .030, the smallest that 158 conversations detect in each.',
      'Other metrics: b is better on mrr@10; a is worse on mrr@10.',
    ]);
  });

  test('much of that is counted', () => {
    const arms = (['better', 'worse'] as const).flatMap((verdict) => [
      arm(`${verdict} 1`, compare('undecided'), compare(verdict), compare('undecided')),
      arm(`${verdict} 2`, compare('undecided'), compare('undecided'), compare(verdict)),
    ]);
    expect(say([...arms, ...others(3)], { metrics: [...metrics, 'recall@5'] }).at(-1)).toBe(
      'Other metrics decide otherwise on 4 of 7 arms.',
    );
  });
});

describe('few conversations', () => {
  const open = (name: string, wins: number, losses = 6 - wins, gain = 0.1) =>
    arm(name, compare('undecided', gain, 0.2, wins, losses));

  test('say that they cannot decide, and in how many of them arms are better or worse', () => {
    const arms = [
      ...Array.from({ length: 23 }, (_, at) => open(`better ${at}`, 6)),
      open('mixed', 4),
      open('degree', 0),
    ];
    expect(say(arms, { conversations: 6 })).toEqual([
      '6 conversations cannot decide 25 comparisons: the smallest possible p is .781.',
      'On ndcg@10, 23 of 25 arms are better than base in 6 of 6; degree is worse in 6 of 6; p .031 uncorrected.',
    ]);
  });

  test('or the one that is better in the most; results of earlier versions have no counts', () => {
    const arms = [open('a', 4), open('b', 5), open('c', 5, 1, 0.2)];
    expect(say(arms, { conversations: 6 })[1]).toBe(
      'At best, c is better than base on ndcg@10 in 5 of 6; p .031 uncorrected.',
    );
    const older = arms.map(({ name }) => ({
      name,
      comparisons: { 'ndcg@10': { verdict: 'undecided', difference: { mean: 1 }, minimumDetectable: 2 } } as const,
    }));
    expect(say(older, { conversations: 6 })).toEqual([
      '6 conversations cannot decide 3 comparisons: the smallest possible p is .094.',
    ]);
    expect(say([open('a', 0, 0)], { conversations: 5 })).toEqual([
      '5 conversations cannot decide 1 comparison: the smallest possible p is .063.',
    ]);
  });

  test('the comparisons of a part of the arms are corrected over all of them', () => {
    expect(say([open('a', 6)], { conversations: 6, corrected: 25 })[0]).toBe(
      '6 conversations cannot decide 25 comparisons: the smallest possible p is .781.',
    );
  });

  test('with several seeds are tested as by the t test', () => {
    const reached = describeUndecidable({ ...statistics, test: 't' }, 6, 3);
    expect(say([open('a', 6), open('b', 6), open('c', 6)], { conversations: 6, seeds: 3 }).slice(0, 1)).toEqual(
      reached.length > 0
        ? reached
        : [
            'On ndcg@10, a, b and c cannot be distinguished from base: the differences are below .200, the smallest that 6 conversations detect in each.',
          ],
    );
  });

  test('decide where they can', () => {
    expect(say([open('a', 6)], { conversations: 6 })).toEqual([
      'On ndcg@10, a cannot be distinguished from base: the difference is below .200, the smallest that 6 conversations detect.',
    ]);
    expect(describeUndecidable(statistics, 6, 1)).toEqual([]);
    expect(describeUndecidable(statistics, 6, 0)).toEqual([]);
    expect(describeUndecidable(statistics, 1, 3, 'comparisons of null controls')).toEqual([
      '1 conversation cannot decide 3 comparisons of null controls: the smallest possible p is 1.000.',
    ]);
  });
});

const results = join(import.meta.dirname, '..', '..', '..', '..', 'results');
const published = readdirSync(results)
  .map((name) => join(results, name))
  .filter((folder) => existsSync(join(folder, 'metrics.json')))
  .filter((folder) => 'statistics' in JSON.parse(readFileSync(join(folder, 'metrics.json'), 'utf8')));

describe('published tables', () => {
  test('are there', () => expect(published.length).toBeGreaterThan(30));

  test.each(published)('%s: every sentence is true of the figures', (folder) => {
    const figures = readRunFigures(folder);
    const { baseline, metrics, conversations } = figures;
    const compared = figures.arms.filter(({ comparisons, control }) => comparisons !== null && control === null);
    const sentences = describeDecisions({ ...figures, rows: 'arms' });
    expect(sentences.length).toBeGreaterThan(0);
    expect(sentences.length).toBeLessThanOrEqual(3);
    for (const sentence of sentences) expect(sentence.split(' ').length, sentence).toBeLessThan(45);
    const [primary = ''] = metrics;
    const count = (verdict: Verdict) =>
      compared.filter((one) => one.comparisons?.[primary]?.verdict === verdict).length;
    const text = sentences.join(' ');
    const isHopeless = / cannot decide \d+ comparisons?: the smallest possible p is /.test(text);
    const decided = compared
      .flatMap(({ comparisons }) => Object.values(comparisons ?? {}))
      .filter(({ verdict }) => verdict !== 'undecided');
    if (isHopeless) {
      expect(decided).toEqual([]);
      return;
    }
    const first = sentences[0] as string;
    expect(first.includes(` better than ${baseline}`)).toBe(count('better') > 0);
    expect(/ worse( than|;|\.)/.test(first)).toBe(count('worse') > 0);
    expect(text.includes('be distinguished')).toBe(count('undecided') > 0);
    for (const { name, comparisons } of compared) {
      const verdict = comparisons?.[primary]?.verdict;
      const isNamed = (text: string) => [` ${name} `, ` ${name},`, `"${name}"`].some((part) => text.includes(part));
      if (count('better') <= 3 && verdict === 'better') expect(isNamed(` ${first}`)).toBe(true);
    }
    const open = compared.filter((one) => one.comparisons?.[primary]?.verdict === 'undecided');
    const bound = /below (\.\d+), the smallest that ([\d,]+) conversations detect/.exec(text);
    if (bound === null) return;
    expect(Number(bound[2]?.replace(',', ''))).toBe(conversations);
    for (const found of open.flatMap(({ comparisons }) => comparisons?.[primary] ?? [])) {
      expect(Math.abs(found.difference.mean)).toBeLessThan(Number(bound[1]));
      expect(found.minimumDetectable).toBeLessThan(Number(bound[1]) + 0.0005);
    }
    if (open.length > 1 && !text.includes('none of'))
      expect(text).toMatch(new RegExp(`[Tt]he other ${open.length} arms`));
  });
});

const LARGE = 1 / 1_000_001;

test.each([
  ['permutation', 1, 1],
  ['permutation', 4, 2 / 16],
  ['permutation', 6, 2 / 64],
  ['permutation', 201, LARGE],
  ['wilcoxon', 4, 2 / 16],
  ['t', 1, 1],
  ['t', 2, 1],
  ['t', 3, 2 / 8],
  ['t', 6, 2 / 64],
  ['t', 29, 2 ** -28],
  ['t', 30, 0],
] as const)('%s of %i clusters', (name, clusters, expected) => {
  expect(computeSmallestP(name, clusters)).toBeCloseTo(expected, 15);
});

test.each([
  ['holm', 7 * 2 ** -5],
  ['benjamini-hochberg', 2 ** -5],
  ['none', 2 ** -5],
] as const)('%s of seven columns of 6 clusters', (correction, expected) => {
  expect(computeSmallestCorrectedP('permutation', correction, 6, 7)).toBeCloseTo(expected, 15);
});

test('a correction gives no p above 1', () => {
  expect(computeSmallestCorrectedP('permutation', 'holm', 4, 17)).toBe(1);
});

test.each(['permutation', 'wilcoxon', 't'] as const)('differences all one way reach it: %s', (name) => {
  for (const [groups, columns] of [
    [1, 2],
    [2, 1],
    [5, 3],
    [11, 1],
  ] as const) {
    const clusters = groupIntoClusters(Array.from({ length: 2 * groups }, (_, i) => `g${i % groups}`));
    const ones = Array.from({ length: columns }, () => new Float64Array(2 * groups).fill(0.5));
    for (const correction of ['holm', 'none'] as CorrectionName[])
      for (const { correctedP } of computeClusteredTests(ones, clusters, {
        test: name,
        correction,
        seed: 3,
        samples: 997,
      }))
        expect(correctedP).toBe(computeSmallestCorrectedP(name, correction, groups, columns));
  }
});

test('no differences get below it', () => {
  const stream = createRandom(5, 'smallest-p test');
  for (const name of ['permutation', 'wilcoxon', 't'] as TestName[])
    for (let groups = 2; groups <= 17; groups += 3) {
      const clusters = groupIntoClusters(Array.from({ length: 3 * groups }, (_, i) => `g${i % groups}`));
      const columns = Array.from({ length: 5 }, () => Float64Array.from(clusters.of, () => 3 + stream.drawNormal()));
      for (const { p } of computeClusteredTests(columns, clusters, { test: name, seed: 3, samples: 997 }))
        expect(p).toBeGreaterThanOrEqual(computeSmallestP(name, groups));
    }
});
