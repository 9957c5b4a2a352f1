import { expect, test } from 'vitest';
import type { ArmResult } from '../../measure/result.ts';
import { withFailedBaseline } from '../tables/failed-baseline.fixture.ts';
import { buildHandmadeResult } from '../tables/result.fixture.ts';
import { renderAttributionTable } from './figure-sections.ts';
import { renderHtml } from './html.ts';
import { inventResult } from './invented-result.fixture.ts';
import { inventSweep } from './invented-sweep.fixture.ts';

/** A page before anything runs. */
const removeScripts = (page: string) => page.replace(/<script[\s>][\s\S]*?<\/script>/g, '');
const listSectionIds = (page: string) => [...page.matchAll(/^<section id="([\w-]+)">/gm)].map(([, id]) => id);

const result = inventSweep(29, { levels: [3, 2, 2], threads: 7, turnsAThread: 5, top: 3 });
const page = removeScripts(renderHtml(result));

test('a section is there where there are data for it, and the navigation leads to each', () => {
  const plain = removeScripts(renderHtml(inventResult(29, { arms: 3, threads: 7, turnsAThread: 5, top: 3 })));
  expect(listSectionIds(plain)).toEqual(['differences', 'ladder', 'arms', 'gains', 'inspector', 'parameters']);
  expect(listSectionIds(page)).toEqual([
    'differences',
    'ladder',
    'arms',
    'gains',
    'evidence',
    'conservation',
    'controls',
    'sweep',
    'strata',
    'attribution',
    'latency',
    'inspector',
    'passports',
    'parameters',
  ]);
  for (const still of [plain, page])
    expect([...still.matchAll(/<a href="#([\w-]+)">/g)].map(([, id]) => id)).toEqual(listSectionIds(still));
});

test('if the baseline failed, no differences from it are reported', () => {
  const still = removeScripts(renderHtml(withFailedBaseline(result)));
  expect(listSectionIds(still)).toEqual(
    listSectionIds(page).filter((id) => !['differences', 'gains', 'controls', 'strata'].includes(id as string)),
  );
  expect(still).toContain('No arm is compared with the baseline, bm25, which failed.');
  for (const text of ['are the baseline', 'baseline is grey', 'effect sizes</label>', 'the difference from bm25'])
    expect([still.includes(text), page.includes(text)], text).toEqual([false, true]);
});

test('failed and stopped arms are rows with their reason across the columns', () => {
  expect(page).toContain('weight=&lt;broken&gt; <span class="badge failed">failed</span>');
  expect(page).toContain('<td class="reason" colspan="5">NOT_FINITE: score is not finite: NaN</td>');
  expect(page).toContain('<span class="badge stopped">stopped</span>');
});

test('a control stands below its arm, which says what its gain survives', () => {
  const rows = [...page.matchAll(/<tr[^>]* data-arm="([^"]*)"(?: data-of="([^"]*)")?><th/g)].map(([, arm, of]) => [
    arm,
    of,
  ]);
  expect(rows.slice(0, 4)).toEqual([
    ['newest-first', undefined],
    ['bm25', undefined],
    ['bm25 | control=permuted-order', 'bm25'],
    ['bm25 | control=random-parents', 'bm25'],
  ]);
  expect(page).toContain('not due to structure: the gain survives permuted-order');
});

test('every metric leads to what it is', () => {
  const passport = /<section id="passport-1" class="passport">([\s\S]*?)<\/section>/.exec(page)?.[1] ?? '';
  expect(page).toContain('href="#passport-1" aria-label="what recall@10 is, exactly"');
  for (const text of [
    '<h3>recall@10</h3>',
    'An invented definition of recall@10.',
    'grade 3 or above',
    '3 without a relevant turn, left out',
    '.437 of the first 10',
  ])
    expect(passport).toContain(text);
});

test('effect sizes, interactions, latencies and fates are in the page in figures', () => {
  const comparison = result.arms[4]?.comparisons?.['mrr@10'];
  expect(page).toContain(`w/t/l ${comparison?.wins}/${comparison?.ties}/${comparison?.losses}`);
  expect(page).toContain(
    '<td class="word">weight × window</td><td class="word">0.25 × 3</td><td class="word">mrr@10</td>',
  );
  const p95 = result.arms[0]?.latency?.rcp?.p95 ?? Number.NaN;
  expect(page).toContain(`data-value="${p95}"`);
  const { area } = result.arms[5]?.evidence ?? {};
  expect(page).toContain(`data-value="${area?.mean}">.600 [.55, .64]`);
  expect(page).toContain(`ceiling of ${result.arms[5]?.name}`);
  expect(page).toContain(
    '<td class="word">newest-first</td><td class="word">first 10</td><td data-value="10">10.0</td>',
  );
  const { kept = 0 } = result.arms[5]?.attribution ?? {};
  expect(page).toContain(
    `<tr data-arm="${result.arms[5]?.name}"><td class="word">${result.arms[5]?.name}</td><td data-value="${kept}">${kept}</td>`,
  );
});

const METHODS = ['one-factor', 'random'];

test.each(METHODS)('a %s sweep has no heat map and asks for no second factor, but says where it starts', (method) => {
  const keepOneFactor = (arm: ArmResult): ArmResult => ({
    ...arm,
    levels: arm.levels?.window === '1' && arm.levels.decay === 'off' ? { weight: arm.levels.weight as string } : null,
  });
  const sweep = { method, arm: 'newest-first', factors: result.sweep?.factors ?? [], interactions: [] };
  const still = removeScripts(renderHtml({ ...result, arms: result.arms.map(keepOneFactor), sweep }));
  expect(still).toContain(`${method}: weight (3), window (2), decay (2).`);
  expect(still).toContain('The dotted line is newest-first, which the sweep starts from.');
  expect(page).not.toContain('which the sweep starts from');
  expect(still).toContain('id="parallel-coordinates"');
  for (const id of ['sweep-by', 'sweep-held', 'heat-map']) {
    expect(page).toContain(`id="${id}"`);
    expect(still).not.toContain(`id="${id}"`);
  }
});

test('a row per arm in the order of the fates, none for an arm without attribution', () => {
  const [worse, base, better] = buildHandmadeResult().arms as [ArmResult, ArmResult, ArmResult];
  const arms = [
    { ...worse, name: 'a', attribution: { fusion: 7, kept: 13 } },
    base,
    { ...better, name: 'b', attribution: { kept: 0 } },
  ];
  const { text } = renderAttributionTable(arms, ['kept', 'candidates', 'fusion']);
  const headings = [...text.matchAll(/<th .*?data-first="(\w+)".*?<button type="button">(.*?)<\/button>/g)];
  expect(headings.map(([, first, name]) => [name, first])).toEqual([
    ['arm', 'ascending'],
    ['kept', 'descending'],
    ['candidates', 'descending'],
    ['relevance', 'descending'],
  ]);
  const rows = [...text.matchAll(/<tr data-arm="(.*?)">(.*?)<\/tr>/g)];
  const parseLossCells = (row: string) => [...row.matchAll(/(?: data-value="(\d+)")?>([^<>]+)<\/td>/g)];
  expect(
    rows.map(([, arm, row = '']) => [arm, ...parseLossCells(row).map(([, value, shown]) => `${shown} by ${value}`)]),
  ).toEqual([
    ['a', 'a by undefined', '13 by 13', '0 by 0', '7 by 7'],
    ['b', 'b by undefined', '0 by 0', '0 by 0', '0 by 0'],
  ]);
});
