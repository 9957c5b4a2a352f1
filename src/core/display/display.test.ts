import { expect, test } from 'vitest';
import { readDisplay } from './display.harness.ts';
import { attachDisplay, buildTableBundle, DISPLAY, joinBundles, phrase, showTable, stateShown } from './display.ts';

test('a display is the method that a notebook calls, and nothing else sees it', async () => {
  const result = attachDisplay({ mean: 0.5 }, ({ mean }) => ({ 'text/plain': `mean ${mean}` }));
  expect(DISPLAY).toBe(Symbol.for('Jupyter.display'));
  expect(await readDisplay(result)).toEqual({ 'text/plain': 'mean 0.5' });
  expect(JSON.stringify(result)).toBe('{"mean":0.5}');
  expect(result).toStrictEqual({ mean: 0.5 });
  expect(Reflect.ownKeys({ ...result })).toEqual(['mean']);
  expect(structuredClone(result)).toEqual({ mean: 0.5 });
});

test('several displays follow each other, one is left as it is', () => {
  const [first, second] = [{ 'text/plain': 'a', 'text/html': '<p>a</p>' }, { 'text/plain': 'b' }];
  expect(joinBundles([first, second])).toEqual({ 'text/plain': 'a\n\nb', 'text/html': '<p>a</p>' });
  expect(joinBundles([first])).toBe(first);
});

test('a table is aligned text, numbers on the right', () => {
  const rows = [
    { arm: stateShown('words'), mrr: 0.51234, queries: 7 },
    { arm: stateShown('fading'), mrr: 12.5, queries: 11, note: null },
  ];
  expect(buildTableBundle(rows, { caption: phrase`two arms` })['text/plain'].split('\n')).toEqual([
    'two arms',
    'arm       mrr  queries  note',
    'words   .5123        7',
    'fading  12.50       11',
  ]);
});

test('what a cell or a caption holds is text in HTML, never markup', () => {
  const cell = stateShown('<img src=x onerror="alert(1)">');
  const bundle = buildTableBundle([{ '<th>': cell }], { caption: phrase`a & b` });
  expect(bundle['text/html']).toContain('<p>a &amp; b</p>');
  expect(bundle['text/html']).toContain('<th style="text-align: left">&lt;th&gt;</th>');
  expect(bundle['text/html']).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;');
  expect(bundle['text/html']).not.toContain('<img');
  expect(bundle['text/html']).not.toMatch(/color|background/);
});

test('rows beyond the limit are counted', () => {
  const rows = Array.from({ length: 37 }, (_, at) => ({ at }));
  expect(buildTableBundle(rows)['text/plain'].split('\n').at(-1)).toBe('and 7 more rows');
  expect(buildTableBundle(rows, { limit: 36 })['text/html']).toContain('<p>and 1 more row</p>');
});

test('showTable returns the rows, which a notebook shows', async () => {
  const table = showTable([{ b: 1 }, { a: 2, b: 3 }], { caption: 'sums' });
  expect(table).toEqual({ caption: 'sums', columns: ['b', 'a'], rows: [{ b: 1 }, { a: 2, b: 3 }] });
  const bundle = await readDisplay(table);
  expect(bundle['text/plain']).toBe('sums\nb  a\n1\n3  2');
});

test('a date beside a long text stays on one line; without a long text no column needs it', () => {
  const row = { written: stateShown('2024-03-11'), text: stateShown('word '.repeat(20)) };
  expect(buildTableBundle([row])['text/html']).toContain(
    '<td style="text-align: left; white-space: nowrap">2024-03-11</td><td style="text-align: left">word',
  );
  expect(buildTableBundle([{ ...row, text: phrase`word` }])['text/html']).not.toContain('nowrap');
});
