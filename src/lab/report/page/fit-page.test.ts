import { describe, expect, test } from 'vitest';
import { buildLadderTable } from '../tables/table.ts';
import { renderHtml } from './html.ts';
import { inventFitted } from './invented-fit.fixture.ts';

const size = { signals: 47, folds: 3, epochs: 5, queries: 29, transfer: true };
const result = inventFitted(7, size);
const page = renderHtml(result);
const listElementIds = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id as string);
const cutBeforeData = (text: string) => text.slice(0, text.indexOf('<script type="application/json"'));

test('every link of the navigation leads to a section, and no id stands twice', () => {
  const ids = listElementIds(cutBeforeData(page));
  const links = [...cutBeforeData(page).matchAll(/href="#([^"]+)"/g)].map(([, id]) => id as string);
  expect(links).toEqual([
    'differences',
    'ladder',
    'arms',
    'gains',
    'strata',
    'weights',
    'curves',
    'calibration',
    'importance',
    'exchanged',
    'transfer',
    'inspector',
    'parameters',
  ]);
  expect(links.filter((link) => !ids.includes(link))).toEqual([]);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test('what the table decides stands above its table and the first figure', () => {
  const [above = ''] = cutBeforeData(page).split('class="figure"');
  const decisions = [buildLadderTable(result).decision.join(' ')];
  expect(above.match(/(?<=<p class="lead decision">)[^<]*/g)).toEqual(decisions);
});

test('without its data the page has at most 2 MB', () => {
  const data = page.slice(page.indexOf('<script type="application/json"')).split('</script>', 1)[0] ?? '';
  expect(data.length).toBeGreaterThan(1000);
  expect(Buffer.byteLength(page) - Buffer.byteLength(data)).toBeLessThan(2e6);
});

test('names from data are text, in the page and in what its script reads', () => {
  expect(page).toContain('asked &amp; &lt;named&gt;');
  expect(page).not.toContain('asked & <named>');
});

test('nothing is fetched', () => {
  expect(cutBeforeData(page)).not.toMatch(/https?:|src=|<link/);
  expect(page).toContain("default-src 'none'");
});

describe('sections without data are left out', () => {
  const { fit } = result;
  test.each([
    ['transfer', { ...result, fit: { ...fit, transfer: [] } }],
    ['strata', { ...result, strata: [] }],
    ['importance', { ...result, fit: { ...fit, importance: [] } }],
    ['exchanged', { ...result, fit: { ...fit, controls: [] } }],
  ])('%s', (id, without) => {
    expect(listElementIds(cutBeforeData(page))).toContain(id);
    expect(listElementIds(cutBeforeData(renderHtml(without)))).not.toContain(id);
  });
});
