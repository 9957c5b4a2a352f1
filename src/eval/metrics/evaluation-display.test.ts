import { expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { createRun } from '../trec/run-tables.ts';
import { evaluate } from './evaluate.ts';

const OPTIONS = { relevantGrade: 1, unanswerable: 'apart', holeDepth: 10 } as const;

test('an evaluation shows the mean of each metric, and how many queries it is of', async () => {
  const run = createRun({ soup: { a: 2, b: 1 }, bread: { a: 2, b: 1 }, extra: { a: 1 } });
  const grades = (id: string) => new Map([[id, 1]]);
  const qrels = new Map([
    ['soup', grades('a')],
    ['bread', grades('b')],
    ['tea', grades('c')],
  ]);
  const evaluation = evaluate(run, qrels, ['mrr', 'recall@1'], OPTIONS);
  expect((await readDisplay(evaluation))['text/plain'].split('\n')).toEqual([
    'means of 3 queries, 1 without a ranking, 1 unjudged',
    'metric     mean',
    'mrr       .5000',
    'recall@1  .3333',
  ]);
  const none = evaluate(run, new Map(), ['mrr'], OPTIONS);
  expect((await readDisplay(none))['text/plain'].split('\n').at(-1)).toBe('mrr');
});
