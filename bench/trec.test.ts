import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { evaluate } from '../src/eval/metrics/evaluate.ts';
import { readQrels, readRun } from '../src/eval/trec/trec-files.ts';
import { runBenchCommand } from './command.harness.ts';
import { compareTrec, formatTrecTable } from './trec.ts';
import { locateTrecFile, writeTrecWorkload } from './trec-workload.ts';
import { EVALUATION, METRIC_NAMES, TREC_METRICS } from './trec-works.ts';

const folder = mkdtempSync(join(tmpdir(), 'trec-bench-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('every row and value is compared with those of the peer', () => {
  writeTrecWorkload(folder, { queries: 7, documents: 13, seed: 3 });
  const run = readRun(locateTrecFile(folder, 'run'));
  const qrels = readQrels(locateTrecFile(folder, 'qrels'));
  const { queryIds, values } = evaluate(run, qrels, TREC_METRICS, EVALUATION);
  const same = () => ({
    run: Object.fromEntries(
      [...run].map(([query, ranking]) => [query, Object.fromEntries(ranking.map(({ id, score }) => [id, score]))]),
    ),
    qrels: Object.fromEntries([...qrels].map(([query, grades]) => [query, Object.fromEntries(grades)])),
    values: Object.fromEntries(
      queryIds.map((query, i) => [
        query,
        Object.fromEntries(Object.entries(METRIC_NAMES).map(([metric, name]) => [name, values[metric]![i]!])),
      ]),
    ),
  });
  const compared = 7 * 13 + 7 * 12 + 7 * 5;
  expect(compareTrec(folder, same())).toEqual({ compared, differ: 0 });
  const other = same();
  other.run.q3!.more = 1;
  delete other.qrels.q5![Object.keys(other.qrels.q5!)[0]!];
  other.values.q0!.map! += 1e-6;
  expect(compareTrec(folder, other)).toEqual({ compared, differ: 3 });
});

test('ratios are those of rounds', () => {
  const cost = (seconds: number) => [
    { work: 'run' as const, seconds, peakBytes: 1e8 * seconds },
    { work: 'qrels' as const, seconds: 2, peakBytes: 1e6 },
    { work: 'evaluate' as const, seconds: 3, peakBytes: 1e6 },
  ];
  const [line] = formatTrecTable([cost(1), cost(4), cost(3)], [cost(2), cost(2), cost(2)])
    .split('\n')
    .slice(2);
  expect(line?.trim().split(/\s{2,}/)).toEqual(['run', '3.000', '2.000', '0.50', '1.50', '2.00', '300', '200']);
});

test('the command prints a line for each work, and refuses too few documents', async () => {
  const { output } = await runBenchCommand(
    'trec',
    '--queries',
    '5',
    '--documents',
    '12',
    '--rounds',
    '1',
    '--peer',
    'none',
  );
  for (const work of ['run', 'qrels', 'evaluate']) expect(output).toMatch(new RegExp(`\\n${work} +\\d\\.\\d{3} +- `));
  const refused = await runBenchCommand('trec', '--documents', '7');
  expect(refused).toMatchObject({ status: 2, errors: '--documents is too small: 7; give one from 8\n' });
});
