import { describe, expect, test } from 'vitest';
import type { LadderCell, LadderRow, LadderTable } from '../tables/table.ts';
import { renderLadderTable } from './html-table.ts';

const cell: LadderCell = {
  metric: 'mrr@10',
  mean: 0.49612,
  verdict: 'undecided',
  mark: '',
  value: '.496',
  interval: '[.47, .52]',
  comparison: null,
};
const compared: LadderCell = {
  ...cell,
  mean: 0.353,
  verdict: 'worse',
  mark: '▼',
  value: '.353',
  comparison: {
    difference: '−.143',
    interval: '[−.17, −.12]',
    p: '<.001',
    effectSize: '−.29',
    minimumDetectable: '.031',
    counts: '2/3/5',
  },
};
const row: LadderRow = {
  arm: 'words',
  description: 'The words alone.',
  isBaseline: true,
  control: null,
  survives: [],
  cells: [cell],
  holes: 5,
};
const table: LadderTable = {
  metrics: ['mrr@10'],
  baseline: 'words',
  compared: true,
  rows: [
    row,
    { ...row, arm: 'placed', isBaseline: false, survives: ['random-parents'], cells: [compared], holes: 17 },
    { ...row, arm: 'mixed', isBaseline: false, control: { of: 'placed', kind: 'random-parents' } },
  ],
  absent: [{ arm: 'broken', description: '', kind: 'failed', reason: 'NOT_FINITE: a & b' }],
  decision: [],
  legend: ['First & last.'],
  notes: [],
};
const { text } = renderLadderTable(table, true);
/** From the opening of an arm's row to its end. */
const findArmRow = (arm: string) => new RegExp(`<tr[^>]* data-arm="${arm}"[\\s\\S]*?</tr>`).exec(text)?.[0] ?? '';

describe('what the table sorts by', () => {
  test('is the name, the mean with all its digits, the number of holes', () => {
    const listSortKeys = (arm: string) =>
      [...findArmRow(arm).matchAll(/data-(?:value|name)="([^"]*)"/g)].map(([, value]) => value);
    expect(listSortKeys('words')).toEqual(['words', '0.49612', '5']);
    expect(listSortKeys('placed')).toEqual(['placed', '0.353', '17']);
    expect(listSortKeys('broken')).toEqual(['broken']);
  });

  test('is the best first for a metric, and nothing to begin with', () => {
    const headings = [...text.matchAll(/<th scope="col" data-first="(\w+)"([^>]*)><button type="button">(.*?)</g)];
    expect(headings.map(([, first, more, name]) => [name, first, more])).toEqual([
      ['arm', 'ascending', ' class="arm"'],
      ['mrr@10', 'descending', ' class="metric"'],
      ['unjudged', 'ascending', ''],
    ]);
  });
});

test('an arm says what it is: the baseline, a control, a gain that structure does not explain', () => {
  const listRowBadges = (arm: string) =>
    [...findArmRow(arm).matchAll(/class="badge[^>]*>([^<]*)</g)].map(([, badge]) => badge);
  expect(listRowBadges('words')).toEqual(['baseline']);
  expect(listRowBadges('placed')).toEqual(['not due to structure: the gain survives random-parents']);
  expect(listRowBadges('mixed')).toEqual(['null control: random-parents']);
  const findRowOpening = (arm: string) => /^<tr[^>]*>/.exec(findArmRow(arm))?.[0];
  expect(findRowOpening('words')).toBe('<tr class="is-baseline" data-arm="words">');
  expect(findRowOpening('placed')).toBe('<tr data-arm="placed">');
  expect(findRowOpening('mixed')).toBe('<tr class="is-control" data-arm="mixed" data-of="placed">');
});

test('a cell has its figures, and of another arm than the baseline the difference, its p, its mark in words', () => {
  const readMetricCells = (arm: string) =>
    /<td class="metric"[\s\S]*?<\/td>/.exec(findArmRow(arm))?.[0].replace(/<[^>]*>/g, '|');
  expect(readMetricCells('words')?.split('|').filter(Boolean)).toEqual(['.496', '[.47, .52]']);
  expect(readMetricCells('placed')?.split('|').filter(Boolean)).toEqual([
    ...['.353', '[.47, .52]', '▼', '−.143', '[−.17, −.12]', 'p &lt;.001'],
    ...['d −.29 · mde .031', 'w/t/l 2/3/5'],
  ]);
  expect(findArmRow('placed')).toContain('<span role="img" aria-label="worse than words">▼</span>');
});

test('a reason spans the metrics and the holes; texts are escaped', () => {
  expect(findArmRow('broken')).toContain('<td class="reason" colspan="2">NOT_FINITE: a &amp; b</td>');
  expect(text).toContain('First &amp; last.<br>');
});

test('a metric leads to its passport only where there are passports', () => {
  expect(text).toContain('href="#passport-0"');
  expect(renderLadderTable(table, false).text).not.toContain('passport');
});

test.each([
  [29, 'wide ladder-frame'],
  [30, 'wide ladder-frame'],
  [31, 'wide ladder-frame long'],
])('%i rows are framed as %s', (count, frame) => {
  const rows = Array.from({ length: count }, (_, i) => ({ ...row, arm: `a${i}` }));
  expect(renderLadderTable({ ...table, rows }, false).text).toContain(`<div class="${frame}" role="region"`);
});

test.each([
  [4, 'ladder sortable'],
  [5, 'ladder sortable dense'],
])('with %i metrics the table is of the class %s', (count, kind) => {
  const metrics = Array.from({ length: count }, (_, at) => `recall@${at + 1}`);
  const rows = [{ ...row, cells: metrics.map((metric) => ({ ...cell, metric })) }];
  expect(renderLadderTable({ ...table, metrics, rows }, false).text).toContain(`<table class="${kind}"`);
});

test('without a baseline nothing is said of differences', () => {
  const { text: alone } = renderLadderTable({ ...table, compared: false, rows: [row] }, false);
  expect(alone).toContain('Mean and interval of every arm.</p>');
  expect(text).toContain('Mean and interval of every arm; below them the difference from words');
  expect([text, alone].map((one) => one.includes('id="with-effects"'))).toEqual([true, false]);
});
