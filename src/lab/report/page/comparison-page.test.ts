import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { afterAll, expect, test } from 'vitest';
import { SAMPLE_RUN, writeSampleRun } from '../../run/run-folder.fixture.ts';
import { compareRuns } from '../../stored/run-comparison.ts';
import { renderComparisonHtml, renderComparisonMarkdown, renderComparisonText } from './comparison-page.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-comparison-'));
afterAll(() => rmSync(root, { recursive: true }));
const [a, b] = [join(root, 'a'), join(root, 'b')];
writeSampleRun(a, SAMPLE_RUN);
writeSampleRun(b, {
  ...SAMPLE_RUN,
  hash: 'ffffffffffff',
  config: {
    name: '</style>|',
    seed: 7,
    arms: [
      { name: 'bm25', k: 10 },
      { name: 'cosine', k: 20 },
    ],
  },
  arms: { ...SAMPLE_RUN.arms, cosine: [1, 1, 1, 1, 1, 1], extra: [0, 0, 0, 0, 0, 0] },
});
const comparison = compareRuns(a, b);

test('for a terminal: the runs, what differs, and the arms of both', () => {
  const text = renderComparisonText(comparison);
  expect(text).toMatch(/^hash +a1b2c3d4e5f6 +ffffffffffff$/m);
  expect(text).toMatch(/^name +ladder +<\/style>\|$/m);
  expect(text).toMatch(/^Arms of B alone: extra\.$/m);
  expect(text).toMatch(/^bm25 +mrr@10 +\.458 +\.458 +\.000 +\[\.000, \.000\] +1\.000 +\.00 +0\/6\/0$/m);
  expect(text).toMatch(
    /^cosine +mrr@10 +\.542 +1\.000 +\+\.458 +\[\+\.\d{3}, \+\.\d{3}\] +\.500 +\+1\.\d\d +5\/1\/0$/m,
  );
  expect(text).toContain('corrected by Holm over the arms');
});

test('the legend says how intervals are made and what the conversations and the samples leave open', () => {
  const text = renderComparisonText(comparison);
  expect(text).toContain('B minus A: 95 % cluster-robust t intervals (fewer than 20 conversations).');
  const decision = '3 conversations cannot decide 2 comparisons: the smallest possible p is .500.';
  const share = 'On mrr@10, cosine is better in B than in A in 3 of 3; p .250 uncorrected.';
  expect(text.endsWith(`${decision}\n${share}\n`)).toBe(true);
  expect(renderComparisonMarkdown(comparison)).toContain(`\n\n${decision}\n${share}\n`);
  expect(renderComparisonHtml(comparison)).toContain(`<main><p class="lead decision">${decision} ${share}</p>`);
  const arms = comparison.arms.map((arm) => ({
    ...arm,
    metrics: Object.fromEntries(
      Object.entries(arm.metrics).map(([metric, { comparison: test, ...means }]) => [
        metric,
        { ...means, comparison: test && { ...test, unresolved: arm.name === 'cosine' } },
      ]),
    ),
  }));
  expect(renderComparisonText({ ...comparison, arms, conversations: 41 })).toContain(
    'Undecided after 1,000,000 samples, with .05 within the Monte Carlo error of p: cosine (mrr@10).',
  );
});

test('the legend names the seeds whose means are tested', () => {
  const [c, d] = [join(root, 'seeds-c'), join(root, 'seeds-d')];
  writeSampleRun(c, SAMPLE_RUN);
  writeSampleRun(d, { ...SAMPLE_RUN, seeds: { cosine: 3 } });
  expect(renderComparisonText(compareRuns(c, c))).not.toContain('seeds');
  expect(renderComparisonText(compareRuns(c, d))).toContain(
    'Figures of repeated arms are means over 3 seeds. p is of these means, without the variance between seeds',
  );
});

test('two conversations have no interval', () => {
  const [c, d] = [join(root, 'c'), join(root, 'd')];
  const queries = SAMPLE_RUN.queries.slice(0, 4);
  const few = { bm25: [1, 0.5, 0, 0.25], cosine: [0.5, 0.5, 1, 0.25] };
  writeSampleRun(c, { ...SAMPLE_RUN, queries, arms: few });
  writeSampleRun(d, { ...SAMPLE_RUN, queries, arms: { ...few, cosine: [1, 1, 1, 1] } });
  const text = renderComparisonText(compareRuns(c, d));
  expect(text).toMatch(/^cosine +mrr@10 +\.563 +1\.000 +\+\.438 +— +1\.000 /m);
  expect(text).toContain('B minus A: no intervals (fewer than 3 conversations).');
});

test('for a narrow terminal the widest columns take several lines', () => {
  const stripSpaces = (text: string) => text.replace(/[\s─]/g, '');
  const long = { ...comparison, differences: [{ path: 'arms', first: 'ragpp '.repeat(50), second: 'x'.repeat(301) }] };
  const text = renderComparisonText(long, 80);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  expect([...stripSpaces(text)].sort()).toEqual([...stripSpaces(renderComparisonText(long))].sort());
  expect(text).toMatch(/^bm25 +mrr@10 +\.458 +\.458 +\.000 +\[\.000, \.000\] +1\.000 +\.00 +0\/6\/0$/m);
});

test('a p close to the level has enough digits', () => {
  const arms = comparison.arms.map((arm) => ({
    ...arm,
    metrics: Object.fromEntries(
      Object.entries(arm.metrics).map(([metric, { comparison: test, ...means }]) => [
        metric,
        { ...means, comparison: test && { ...test, correctedP: 0.0496 } },
      ]),
    ),
  }));
  expect(renderComparisonText({ ...comparison, arms })).toMatch(/^cosine .* \.0496 /m);
});

test('in Markdown the same tables, escaped', () => {
  const text = renderComparisonMarkdown(comparison);
  expect(text).toMatch(/^\| name +\| ladder +\| \\<\/style\\>\\\| +\|$/m);
  expect(text).toMatch(/^\| cosine +\| mrr@10 +\| \.542 +\| 1\.000 +\| \+\.458 +\|/m);
});

test('as a page: escaped, sortable, nothing fetched', () => {
  const page = renderComparisonHtml(comparison);
  expect(page).toContain('&lt;/style&gt;|');
  expect(page.match(/<\/style>/g)).toHaveLength(1);
  expect(page).toContain('<td class="word">cosine</td><td class="word">mrr@10</td>');
  expect(page).toContain('<th scope="col" data-first="ascending"><button type="button">p</button>');
  const script = /<script>([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '';
  expect(() => new Script(script)).not.toThrow();
  expect(script).toContain('makeTablesSortable();');
  expect(page).not.toMatch(/https?:|\bsrc=|url\(|@import/);
});

test('the reason against a test is reported, and the means are there', () => {
  writeSampleRun(b, { ...SAMPLE_RUN, dataHash: 'ffff0000ffff0000' });
  const text = renderComparisonText(compareRuns(a, b));
  expect(text).toContain('nothing is tested: the data differ, 0aaeb0ad6b7b and ffff0000ffff\nA and B: means.');
  expect(text).toMatch(/^cosine +mrr@10 +\.542 +\.542 +\.000 +— +— +— +—$/m);
  writeSampleRun(b, { ...SAMPLE_RUN, arms: { other: [0, 0, 0, 0, 0, 0] } });
  expect(renderComparisonText(compareRuns(a, b))).toContain('No arm is in both runs.');
});
