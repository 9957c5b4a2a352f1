import { expect, test } from 'vitest';
import { readDisplay } from '../../../core/display/display.harness.ts';
import { NotFiniteError, ValidationError } from '../../../core/errors/errors.ts';
import type { ArmResult, ExperimentResult } from '../../measure/result.ts';
import { inventResult } from '../page/invented-result.fixture.ts';
import { renderCsv } from './csv.ts';
import { withFailedBaseline } from './failed-baseline.fixture.ts';
import { renderLatex, renderMarkdown } from './markdown.ts';
import { buildHandmadeResult } from './result.fixture.ts';
import { buildLadderTable, orderLadderArms } from './table.ts';
import { renderText } from './text-table.ts';

test('cells are written once: value, interval, difference and corrected p', () => {
  const [worse, base] = buildLadderTable(buildHandmadeResult()).rows;
  expect(worse?.cells[0]).toEqual({
    metric: 'mrr@10',
    mean: 0.353,
    verdict: 'worse',
    mark: '▼',
    value: '.353',
    interval: '[.33, .38]',
    comparison: {
      difference: '−.143',
      interval: '[−.17, −.12]',
      p: '<.001',
      effectSize: '−.29',
      minimumDetectable: '.031',
      counts: '5/3/2',
    },
  });
  expect(base).toMatchObject({ arm: 'bm25', isBaseline: true, holes: 5 });
  expect(base?.cells.map((cell) => [cell.mark, cell.comparison])).toEqual([
    ['', null],
    ['', null],
  ]);
});

test('a mark follows the verdict and nothing else', () => {
  const marks = buildLadderTable(buildHandmadeResult()).rows.map((row) => row.cells.map((cell) => cell.mark));
  expect(marks).toEqual([
    ['▼', ''],
    ['', ''],
    ['', '▲'],
  ]);
});

test('the legend names baseline, test, correction and counts', () => {
  const legend = buildLadderTable(buildHandmadeResult()).legend.join(' ');
  expect(legend).toContain('worse than bm25');
  expect(legend).toContain('sign-flip permutation test (10,000 samples), clustered by conversation, corrected by Holm');
  expect(legend).toContain('10 queries in 5 conversations');
});

test('the legend explains an interval that shows a value beyond the bounds of its metric', () => {
  const result = buildHandmadeResult();
  const withHigh = (high: number): ExperimentResult => {
    const [first, ...others] = result.arms as [ArmResult, ...ArmResult[]];
    return {
      ...result,
      arms: [{ ...first, metrics: { ...first.metrics, 'mrr@10': { mean: 0.96, low: 0.9, high } } }, ...others],
    };
  };
  const sentence = 'A t interval is symmetric and is not cut at 0 or 1';
  expect(buildLadderTable(withHigh(1.004)).legend.join(' ')).not.toContain(sentence);
  expect(buildLadderTable(withHigh(1.01)).legend.join(' ')).toContain(sentence);
  expect(renderLatex(withHigh(1.01))).toContain(sentence);
});

/** The result with two queries in each of a number of conversations. */
function spreadOverConversations(count: number): ExperimentResult {
  const result = buildHandmadeResult();
  const [query] = result.queries as [ExperimentResult['queries'][number]];
  const queries = Array.from({ length: 2 * count }, (_, q) => ({ ...query, id: `q${q}`, cluster: `c${q % count}` }));
  return { ...result, queries };
}

function withoutVerdicts(result: ExperimentResult): ExperimentResult {
  const drop = (comparisons: NonNullable<ArmResult['comparisons']>) =>
    Object.fromEntries(
      Object.entries(comparisons).map(([metric, comparison]) => [
        metric,
        { ...comparison, verdict: 'undecided' as const },
      ]),
    );
  const arms = result.arms.map((arm) => ({ ...arm, comparisons: arm.comparisons && drop(arm.comparisons) }));
  return { ...result, arms };
}

test.each([
  [1, '1.000', true, 'no intervals (fewer than 3 conversations). 2 queries in 1 conversation.'],
  [2, '1.000', true, 'no intervals (fewer than 3 conversations). 4 queries in 2 conversations.'],
  [5, '.125', true, '95 % cluster-robust t intervals (fewer than 20 conversations). 10 queries in 5 conversations.'],
  [6, '.063', true, '95 % cluster-robust t intervals (fewer than 20 conversations). 12 queries in 6 conversations.'],
  [7, '.031', false, '95 % cluster-robust t intervals (fewer than 20 conversations). 14 queries in 7 conversations.'],
  [20, '<.001', false, '95 % bootstrap intervals (BCa), clustered by conversation. 40 queries in 20 conversations.'],
])('the table says what %i conversations can decide', (conversations, p, isHopeless, brackets) => {
  const { decision, legend } = buildLadderTable(withoutVerdicts(spreadOverConversations(conversations)));
  const plural = conversations === 1 ? '1 conversation' : `${conversations} conversations`;
  const sentence = `${plural} cannot decide 2 comparisons: the smallest possible p is ${p}.`;
  expect(decision[0] === sentence).toBe(isHopeless);
  expect(decision.join(' ').includes('cannot decide')).toBe(isHopeless);
  expect(legend).toContain(`Brackets: ${brackets}`);
  expect(legend.at(-1)?.includes('where their sizes are skewed: .88 to .91 for .95.')).toBe(
    brackets.includes('t intervals'),
  );
});

test('the legend says what null controls cannot decide, which are a family of their own', () => {
  const result = spreadOverConversations(6);
  const [first, base, better] = result.arms as [ArmResult, ArmResult, ArmResult];
  const control = { ...better, name: 'control', control: { of: first.name, kind: 'permuted-order' } };
  const listLegend = (controls: readonly ArmResult[]) =>
    buildLadderTable({ ...result, arms: [first, base, ...controls] }).legend;
  const sentence = /^6 conversations cannot decide 2 comparisons of null controls: the smallest possible p is \.063\.$/;
  expect(listLegend([control, { ...control, name: 'other' }])).toContainEqual(expect.stringMatching(sentence));
  expect(listLegend([control]).join(' ')).not.toContain('cannot decide');
});

test('an arm that no seed changes has no deviation, and the legend names it', () => {
  const result = buildHandmadeResult();
  const arms = result.arms.map((arm, at) => ({
    ...arm,
    seeds: { count: 3, deviations: { 'mrr@10': 0.01 * at, 'recall@10': 1e-17 } },
  }));
  const { rows, legend } = buildLadderTable({ ...result, arms });
  expect(rows.map(({ cells }) => cells.map(({ value }) => value))).toEqual([
    ['.353', '.099'],
    ['.496 ± .010', '.100 ± .000'],
    ['1.000 ± .020', '.200 ± .000'],
  ]);
  expect(legend).toContain('Without ±, since every seed gives the same figures: newest | <first>.');
});

test('a t test can decide no more than sign flips below 30 conversations', () => {
  const decideOver = (conversations: number) => {
    const result = withoutVerdicts(spreadOverConversations(conversations));
    return buildLadderTable({ ...result, statistics: { ...result.statistics, test: 't' } }).decision.join(' ');
  };
  expect(decideOver(30)).not.toContain('cannot decide');
  expect(decideOver(6)).toContain('6 conversations cannot decide 2 comparisons: the smallest possible p is .063.');
  expect(decideOver(2)).toContain('2 conversations cannot decide 2 comparisons: the smallest possible p is 1.000.');
});

test('the legend names the arms that the most samples do not decide', () => {
  const result = spreadOverConversations(41);
  const arms = result.arms.map((arm) =>
    arm.name === 'cosine'
      ? {
          ...arm,
          comparisons: Object.fromEntries(
            Object.entries(arm.comparisons ?? {}).map(([metric, comparison]) => [
              metric,
              {
                ...comparison,
                correctedP: 0.0499,
                verdict: 'undecided' as const,
                samples: 1_000_000,
                unresolved: true,
              },
            ]),
          ),
        }
      : arm,
  );
  const table = buildLadderTable({ ...result, arms });
  expect(table.legend).toContain(
    'Where .05 is within the Monte Carlo error of p, more samples are drawn, up to 1,000,000.',
  );
  expect(table.legend).toContain(
    'Undecided after 1,000,000 samples, with .05 within the Monte Carlo error of p: cosine (mrr@10, recall@10).',
  );
  expect(table.rows[2]?.cells.map(({ mark, comparison }) => [mark, comparison?.p])).toEqual([
    ['', '.0499'],
    ['', '.0499'],
  ]);
  expect(buildLadderTable(result).legend.join(' ')).not.toContain('Undecided after');
});

test('without an interval a cell has its mean alone', () => {
  const result = spreadOverConversations(2);
  const arms = result.arms.map((arm) => ({
    ...arm,
    metrics: Object.fromEntries(
      Object.entries(arm.metrics).map(([metric, { mean }]) => [metric, { mean, low: null, high: null }] as const),
    ),
    comparisons:
      arm.comparisons &&
      Object.fromEntries(
        Object.entries(arm.comparisons).map(
          ([metric, { difference, ...rest }]) =>
            [
              metric,
              { ...rest, minimumDetectable: null, difference: { mean: difference.mean, low: null, high: null } },
            ] as const,
        ),
      ),
  }));
  const few = { ...result, arms };
  const [cell] = buildLadderTable(few).rows[0]?.cells ?? [];
  expect(cell).toMatchObject({ value: '.353', interval: '' });
  expect(cell?.comparison).toMatchObject({ difference: '−.143', interval: '', minimumDetectable: '—' });
  expect(renderText(few)).not.toContain('[');
  expect(renderMarkdown(few).split('Experiment')[0]).not.toContain('[');
  expect(renderMarkdown(few)).toMatch(/\| −\.143, p <\.001 ▼ +\|/);
  expect(renderLatex(few)).not.toContain('{\\footnotesize }');
  const [heading = '', first = ''] = renderCsv(few).split('\n');
  const readCsvField = (name: string) => first.split(',')[heading.split(',').indexOf(name)];
  expect(['mean', 'low', 'high', 'minimum detectable', 'intervals'].map(readCsvField)).toEqual([
    '0.353',
    '',
    '',
    '',
    'none',
  ]);
});

test('the legend says which test was made and how it was corrected', () => {
  const renderLegendOver = (
    test: 't' | 'wilcoxon',
    correction: 'benjamini-hochberg' | 'none',
    conversations: number,
  ) => {
    const result = spreadOverConversations(conversations);
    const { legend } = buildLadderTable({ ...result, statistics: { ...result.statistics, test, correction } });
    return legend.slice(1, 3).join(' ');
  };
  expect(renderLegendOver('t', 'none', 30)).toMatch(
    /^p: paired t test, clustered by conversation, not corrected for the number of arms\. Brackets/,
  );
  expect(renderLegendOver('t', 'none', 29)).toBe(
    'p: paired t test, clustered by conversation, not corrected for the number of arms. Below 30 conversations p is that of the exact sign-flip test where that is larger.',
  );
  expect(renderLegendOver('wilcoxon', 'benjamini-hochberg', 30)).toContain(
    'p: paired Wilcoxon signed-rank test, clustered by conversation, corrected by Benjamini and Hochberg over the arms.',
  );
});

test('null controls stand below their arm, those of an absent arm last', () => {
  const [first, base, better] = buildHandmadeResult().arms as [ArmResult, ArmResult, ArmResult];
  const buildControlled = (name: string, of: string): ArmResult => ({
    ...better,
    name,
    control: { of, kind: 'permuted-order' },
  });
  const arms = [
    buildControlled('stray', 'absent'),
    buildControlled('c1', first.name),
    first,
    base,
    better,
    buildControlled('c2', first.name),
  ];
  expect(orderLadderArms(arms).map(({ name }) => name)).toEqual([first.name, 'c1', 'c2', 'bm25', 'cosine', 'stray']);
});

test('what failed, what was stopped, and whose gain is not due to structure is said', () => {
  const buildSurvival = (...kinds: string[]) => ({ survives: kinds, controls: {} });
  const structure = {
    survives: ['a', 'b'],
    metrics: { 'mrr@10': buildSurvival('a'), 'recall@10': buildSurvival('a', 'b') },
  };
  const result = buildHandmadeResult();
  const table = buildLadderTable({
    ...result,
    arms: result.arms.map((arm) => (arm.name === 'cosine' ? { ...arm, structure } : arm)),
    failures: [{ name: 'broken', description: 'no good', code: 'QUERY', message: 'no such turn: x' }],
    stopped: [
      {
        name: 'slow',
        description: '',
        queries: 17,
        metric: 'mrr@10',
        mean: 0.1,
        difference: { mean: -0.3, low: -0.42, high: -0.2 },
        p: 0.0004,
      },
    ],
  });
  expect(table.absent).toEqual([
    { arm: 'broken', description: 'no good', kind: 'failed', reason: 'QUERY: no such turn: x' },
    {
      arm: 'slow',
      description: '',
      kind: 'stopped',
      reason: 'after 17 queries, mrr@10 .100, −.300 [−.42, −.20] against the best, p <.001',
    },
  ]);
  expect(table.notes).toEqual([
    'not due to structure: the gain of cosine survives a, b (recall@10)',
    'failed: broken, QUERY: no such turn: x',
    'stopped: slow, after 17 queries, mrr@10 .100, −.300 [−.42, −.20] against the best, p <.001',
  ]);
});

const changeLastArm = (change: Partial<ArmResult>) => {
  const result = buildHandmadeResult();
  return { ...result, arms: result.arms.map((arm, at) => (at === 2 ? { ...arm, ...change } : arm)) };
};

test('a result whose parts do not fit together is refused', () => {
  const catchError = (act: () => unknown) => {
    try {
      act();
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const faults = [
    [
      () => buildLadderTable({ ...buildHandmadeResult(), baseline: 'absent' }),
      ValidationError,
      'baseline is not among the arms: absent; name one of the arms',
    ],
    [
      () => buildLadderTable(changeLastArm({ metrics: {} })),
      ValidationError,
      'arm cosine has no metric: mrr@10; name a metric of the result',
    ],
    [
      () => buildLadderTable(changeLastArm({ comparisons: null })),
      ValidationError,
      'arm cosine has no comparison with the baseline in: mrr@10; measure the arms again',
    ],
    [
      () => buildLadderTable(changeLastArm({ metrics: { 'mrr@10': { mean: Number.NaN, low: 0, high: 0 } } })),
      NotFiniteError,
      new NotFiniteError('interval', 'arm cosine, mrr@10', Number.NaN).message,
    ],
  ] as const;
  for (const [act, type, message] of faults) {
    const error = catchError(act);
    expect(error).toBeInstanceOf(type);
    expect((error as Error).message).toBe(message);
  }
});

test('a p close to the level has enough digits', () => {
  const result = buildHandmadeResult();
  const computeTableP = (level: number) => {
    const arms = result.arms.map((arm) =>
      arm.comparisons === null
        ? arm
        : {
            ...arm,
            comparisons: { ...arm.comparisons, 'mrr@10': { ...arm.comparisons['mrr@10']!, correctedP: 0.0496 } },
          },
    );
    return buildLadderTable({ ...result, arms, statistics: { ...result.statistics, level } }).rows[0]?.cells[0]
      ?.comparison?.p;
  };
  expect([computeTableP(0.95), computeTableP(0.99)]).toEqual(['.0496', '.050']);
});

test('without a baseline that did not fail the arms have their figures and nothing is compared', () => {
  const failed = withFailedBaseline(buildHandmadeResult());
  const table = buildLadderTable(failed);
  expect(table).toMatchObject({ baseline: 'bm25', compared: false });
  expect(table.rows.map(({ arm, isBaseline }) => [arm, isBaseline])).toEqual([
    ['newest | <first>', false],
    ['cosine', false],
  ]);
  expect(table.rows[0]?.cells[0]).toMatchObject({ value: '.353', mark: '', verdict: 'undecided', comparison: null });
  expect(table.legend[0]).toBe('No arm is compared with the baseline, bm25, which failed.');
  expect(table.legend.some((sentence) => sentence.startsWith('p: '))).toBe(false);
  expect(table.notes).toEqual(['failed: bm25, NOT_FINITE: score is not finite: NaN']);
  expect(buildLadderTable(buildHandmadeResult()).compared).toBe(true);
});

test('arms and null controls are tested against each other where the baseline failed, and the legend says how', () => {
  const failed = withFailedBaseline(buildHandmadeResult());
  const structure = { survives: [], metrics: {} };
  const { legend } = buildLadderTable({ ...failed, arms: failed.arms.map((arm) => ({ ...arm, structure })) });
  expect(legend[1]).toMatch(/^p: paired sign-flip permutation test/);
});

test('a ladder shows a row for each arm, with difference and p, and the legend below', async () => {
  const table = buildLadderTable(inventResult(3, { arms: 3, threads: 5, turnsAThread: 3, top: 2 }));
  const bundle = await readDisplay(table);
  const [head, ...lines] = bundle['text/plain'].split('\n');
  expect(head).toMatch(new RegExp(`^arm +${table.metrics[0]} +Δ +p `));
  for (const [at, { arm, isBaseline, cells }] of table.rows.entries()) {
    expect(lines[at]).toContain(isBaseline ? `${arm} (baseline)` : arm);
    expect(lines[at]).toContain(cells[0]?.comparison?.difference ?? '—');
  }
  for (const sentence of table.legend) expect(bundle['text/plain']).toContain(sentence);
  expect(bundle['text/html']?.match(/<tr>/g)).toHaveLength(1 + table.rows.length + table.absent.length);
  expect(Object.keys(table)).not.toContain('display');
  expect(JSON.parse(JSON.stringify(table))).toEqual(table);
});

test('the legend names the metrics of which less is better', () => {
  const result = buildHandmadeResult();
  const rename = <V>(values: Readonly<Record<string, V>>) =>
    Object.fromEntries(Object.entries(values).map(([id, value]) => [id.replace('recall', 'stale'), value]));
  const arms = result.arms.map((arm) => ({
    ...arm,
    ...{ metrics: rename(arm.metrics), comparisons: arm.comparisons && rename(arm.comparisons) },
    perQuery: rename(arm.perQuery),
  }));
  const lower = { ...result, metrics: result.metrics.map((id) => id.replace('recall', 'stale')), arms };
  expect(renderText(lower)).toContain('Less is better: stale@10.');
  expect(renderText(result)).not.toContain('Less is better');
});
