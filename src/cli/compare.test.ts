import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import {
  renderComparisonHtml,
  renderComparisonMarkdown,
  renderComparisonText,
} from '../lab/report/page/comparison-page.ts';
import { renderLettersLatex, renderLettersMarkdown, renderLettersText } from '../lab/report/tables/letters-table.ts';
import { SAMPLE_RUN, writeSampleRun } from '../lab/run/run-folder.fixture.ts';
import { compareRuns, compareStoredPairs } from '../lab/stored/run-comparison.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-compare-cli-'));
afterAll(() => rmSync(root, { recursive: true }));
const [a, b, page] = [join(root, 'a'), join(root, 'b'), join(root, 'page.html')];
writeSampleRun(a, SAMPLE_RUN);
writeSampleRun(b, { ...SAMPLE_RUN, seed: 11, arms: { ...SAMPLE_RUN.arms, cosine: [1, 1, 1, 1, 1, 1] } });

test('prints text or Markdown, and writes a page where one is asked for', async () => {
  const comparison = compareRuns(a, b);
  const shown = 'statistics: 1 metrics \\(\\d+\\.\\d s\\)\n';
  expect(await runRagpp('compare', a, b)).toEqual({
    code: 0,
    stdout: renderComparisonText(comparison),
    stderr: expect.stringMatching(new RegExp(`^${shown}$`)),
  });
  expect(existsSync(page)).toBe(false);
  expect(await runRagpp('compare', a, b, '--markdown', '--html', page)).toEqual({
    code: 0,
    stdout: renderComparisonMarkdown(comparison),
    stderr: expect.stringMatching(new RegExp(`^${shown}page: ${page}\n$`)),
  });
  expect(readFileSync(page, 'utf8')).toBe(renderComparisonHtml(comparison));
});

test('fits the terminal, and is as wide as it must be where there is none', async () => {
  const { stdout } = process;
  const { columns } = stdout;
  const measureWidestLine = async () =>
    Math.max(...(await runRagpp('compare', a, b)).stdout.split('\n').map((line) => line.length));
  try {
    stdout.columns = 71;
    expect(await measureWidestLine()).toBeLessThanOrEqual(71);
    (stdout as { columns: number | undefined }).columns = undefined;
    expect(await measureWidestLine()).toBeGreaterThan(100);
  } finally {
    stdout.columns = columns;
  }
});

test('a folder that is no run is an error that names the file', async () => {
  const { code, stderr } = await runRagpp('compare', a, root);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^ragpp \[STORAGE\]: cannot read .*metrics\.json; .*\n$/);
});

test('compares every pair of arms of one run or of two, as text, Markdown or LaTeX', async () => {
  const options = { metrics: null, arms: null, test: 'permutation' } as const;
  const [one, two] = [compareStoredPairs([a], options), compareStoredPairs([a, b], options)];
  const print = async (...flags: string[]) => (await runRagpp('compare', ...flags)).stdout;
  expect(await print(a, '--all-pairs')).toBe(renderLettersText(one));
  expect(await print(a, b, '--all-pairs', '--markdown')).toBe(renderLettersMarkdown(two));
  expect(await print(a, '--all-pairs', '--latex', '--metrics', 'RR@10')).toBe(renderLettersLatex(one));
  expect(await print(a, b, '--all-pairs', '--test', 't', '--arm', 'A: bm25', '--arm', 'B: cosine')).toBe(
    renderLettersText(compareStoredPairs([a, b], { ...options, arms: ['A: bm25', 'B: cosine'], test: 't' })),
  );
});

test.each([
  [[a], 'compare has 1 run; name a second run, or add --all-pairs to compare the arms of one'],
  [[a, b, '--metrics', 'mrr@10'], 'option needs --all-pairs: --metrics; add --all-pairs, or leave it out'],
  [[a, b, '--latex'], 'option needs --all-pairs: --latex; add --all-pairs, or leave it out'],
  [[a, '--all-pairs', '--metrics', 'ndcg@10'], 'run has no metric: ndcg@10; use one of mrr@10, or ragpp rescore'],
  [[a, '--all-pairs', '--arm', 'cosin'], 'no run has the arm: cosin; use cosine'],
  [[a, '--all-pairs', '--html', 'x.html'], "cannot be used with option '--all-pairs'"],
])('%j is refused', async (flags, message) => {
  const { code, stderr } = await runRagpp('compare', ...flags);
  expect(code).toBeGreaterThan(0);
  expect(stderr).toContain(message);
});
