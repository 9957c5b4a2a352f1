import { describe, expect, test } from 'vitest';
import { inventTraining } from './invented-training.fixture.ts';
import { renderTrainingHtml } from './training-page.ts';
import { buildMethodLadder } from './training-table.ts';

const size = { signals: 47, folds: 3, epochs: 5, queries: 29, second: true };
const result = inventTraining(7, size);
const page = renderTrainingHtml(result);
const listElementIds = (text: string) => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id as string);
const cutBeforeData = (text: string) => text.slice(0, text.indexOf('<script type="application/json"'));

test('every link of the navigation leads to a section, and no id stands twice', () => {
  const ids = listElementIds(cutBeforeData(page));
  const links = [...cutBeforeData(page).matchAll(/href="#([^"]+)"/g)].map(([, id]) => id as string);
  expect(links).toEqual([
    'methods',
    'strata',
    'weights',
    'curves',
    'calibration',
    'importance',
    'controls',
    'transfer',
    'inspector',
    'settings',
  ]);
  expect(links.filter((link) => !ids.includes(link))).toEqual([]);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
});

test('what each model decides stands above its table and the first figure', () => {
  const [above = ''] = cutBeforeData(page).split('class="figure"');
  const decisions = result.models.map((model) => buildMethodLadder(result, model).decision.join(' '));
  expect(above.match(/(?<=<p class="lead decision">)[^<]*/g)).toEqual(decisions);
});

test('without its data the page has at most 2 MB', () => {
  const data = page.slice(page.indexOf('<script type="application/json"')).split('</script>', 1)[0] ?? '';
  expect(data.length).toBeGreaterThan(1000);
  expect(Buffer.byteLength(page) - Buffer.byteLength(data)).toBeLessThan(2e6);
});

test('a model has each of its figures, the one without families no importance', () => {
  const figures = [...cutBeforeData(page).matchAll(/id="([\w-]+-figure-\d)"/g)].map(([, id]) => id);
  const kinds = ['weights', 'loss', 'validation', 'calibration'];
  expect(figures.toSorted()).toEqual(
    [...kinds.flatMap((kind) => [`${kind}-figure-0`, `${kind}-figure-1`]), 'importance-figure-0'].toSorted(),
  );
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
  const [linear] = result.models;
  test.each([
    ['transfer', { ...result, transfer: [] }],
    ['strata', { ...result, strata: [] }],
    ['importance', { ...result, models: linear === undefined ? [] : [{ ...linear, importance: [] }] }],
    ['controls', { ...result, models: linear === undefined ? [] : [{ ...linear, controls: [] }] }],
  ])('%s', (id, without) => {
    expect(listElementIds(cutBeforeData(page))).toContain(id);
    expect(listElementIds(cutBeforeData(renderTrainingHtml(without)))).not.toContain(id);
  });
});
