import { expect, test } from 'vitest';
import { inventSweep } from '../page/invented-sweep.fixture.ts';
import { formatCsv, renderCsv } from './csv.ts';
import { withFailedBaseline } from './failed-baseline.fixture.ts';
import { buildHandmadeResult } from './result.fixture.ts';

/** RFC 4180, read character by character. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [['']];
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const row = rows.at(-1) as string[];
    const character = text[at] as string;
    const add = (more: string) => row.push((row.pop() as string) + more);
    if (quoted && character === '"' && text[at + 1] === '"') at += add('"') > 0 ? 1 : 0;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && character === ',') row.push('');
    else if (!quoted && character === '\n') rows.push(['']);
    else add(character);
  }
  return rows.slice(0, -1);
}

test('fields are quoted where they must be, absent ones are empty, numbers have all digits', () => {
  const rows = [
    ['a,b', 'say "no"', 'two\nlines', ' plain '],
    [0.1 + 0.2, null, undefined, -0.5],
  ];
  const text = formatCsv(rows);
  expect(text).toBe('"a,b","say ""no""","two\nlines", plain \n0.30000000000000004,,,-0.5\n');
  expect(parseCsv(text)).toEqual([rows[0], ['0.30000000000000004', '', '', '-0.5']]);
});

test.each([
  ['=HYPERLINK("http://x","y")', `"'=HYPERLINK(""http://x"",""y"")"`],
  ['+ attention', "'+ attention"],
  ['-2+3+cmd|A0', "'-2+3+cmd|A0"],
  ['@SUM(1)', "'@SUM(1)"],
  ['\t=1', "'\t=1"],
  ['\r=1', `"'\r=1"`],
  ['\n=1', `"'\n=1"`],
  ['＝1+1', "'＝1+1"],
  ['-', "'-"],
  ['-0.5', '-0.5'],
  ['+.5e-7', '+.5e-7'],
  [-0.5, '-0.5'],
  [-1e-7, '-1e-7'],
  ['a=1', 'a=1'],
])('a text that a spreadsheet would compute is a text there, a number stays one: %j', (field, written) => {
  expect(formatCsv([[field]])).toBe(`${written}\n`);
});

test('a row an arm and metric with every figure', () => {
  const [head = [], ...rows] = parseCsv(renderCsv(buildHandmadeResult()));
  const objects = rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at]])));
  expect(objects.map((row) => [row.arm, row.metric])).toEqual([
    ['newest | <first>', 'mrr@10'],
    ['newest | <first>', 'recall@10'],
    ['bm25', 'mrr@10'],
    ['bm25', 'recall@10'],
    ['cosine', 'mrr@10'],
    ['cosine', 'recall@10'],
  ]);
  expect(objects[0]).toEqual({
    arm: 'newest | <first>',
    status: 'finished',
    baseline: 'bm25',
    'control of': '',
    control: '',
    survives: '',
    metric: 'mrr@10',
    mean: '0.353',
    low: '0.331',
    high: '0.376',
    difference: '-0.143',
    'difference low': '-0.166',
    'difference high': '-0.12',
    p: '0.0002',
    'corrected p': '0.0004',
    samples: '10000',
    unresolved: 'false',
    verdict: 'worse',
    'effect size': '-0.286',
    'minimum detectable': '0.031',
    wins: '5',
    ties: '3',
    losses: '2',
    queries: '10',
    conversations: '5',
    intervals: 't',
    unjudged: '17',
    message: '',
  });
  expect(objects[2]).toMatchObject({ mean: '0.496', difference: '', verdict: '', wins: '' });
});

test('levels of a sweep are columns, failed and stopped arms are rows', () => {
  const result = inventSweep(5, { levels: [2, 3, 2], threads: 3, turnsAThread: 5, top: 3 });
  const [head = [], ...rows] = parseCsv(renderCsv(result));
  expect(head.slice(-3)).toEqual(['factor:weight', 'factor:window', 'factor:decay']);
  expect(rows).toHaveLength(4 * result.arms.length + 2);
  expect(rows.every((row) => row.length === head.length)).toBe(true);
  const readCell = (row: readonly string[], name: string) => row[head.indexOf(name)];
  const swept = rows.find((row) => readCell(row, 'arm') === 'unified | weight=0.25, window=5, decay=half a day') ?? [];
  expect(swept.slice(-3)).toEqual(['0.25', '5', 'half a day']);
  const [failed = [], stopped = []] = rows.slice(-2);
  expect([readCell(failed, 'status'), readCell(failed, 'message')]).toEqual([
    'failed',
    'NOT_FINITE: score is not finite: NaN',
  ]);
  expect(
    ['status', 'metric', 'mean', 'queries', 'baseline', 'p', 'corrected p'].map((name) => readCell(stopped, name)),
  ).toEqual(['stopped', 'mrr@10', '0.101', '17', '', '', '']);
  expect(readCell(stopped, 'message')).toBe(
    'after 17 queries, mrr@10 .101, −.311 [−.42, −.20] against the best, p <.001',
  );
});

test('where the baseline failed, differences are empty', () => {
  const [head = [], ...rows] = parseCsv(renderCsv(withFailedBaseline(buildHandmadeResult())));
  const listColumnCells = (name: string) => rows.map((row) => row[head.indexOf(name)]);
  expect(listColumnCells('status')).toEqual(['finished', 'finished', 'finished', 'finished', 'failed']);
  for (const name of ['difference', 'p', 'corrected p', 'verdict'])
    expect(new Set(listColumnCells(name))).toEqual(new Set(['']));
  expect(listColumnCells('baseline')).toEqual(['bm25', 'bm25', 'bm25', 'bm25', 'bm25']);
});
