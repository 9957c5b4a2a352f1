import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SAMPLE_RUN, writeSampleRun } from '../experiment/run/run-folder.fixture.ts';
import { compareRuns } from '../experiment/stored/run-comparison.ts';
import {
  renderComparisonHtml,
  renderComparisonMarkdown,
  renderComparisonText,
} from '../report/page/comparison-page.ts';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-compare-cli-'));
afterAll(() => rmSync(root, { recursive: true }));
const [a, b, page] = [join(root, 'a'), join(root, 'b'), join(root, 'page.html')];
writeSampleRun(a, SAMPLE_RUN);
writeSampleRun(b, { ...SAMPLE_RUN, seed: 11, arms: { ...SAMPLE_RUN.arms, cosine: [1, 1, 1, 1, 1, 1] } });

test('prints text or Markdown, and writes a page where one is asked for', async () => {
  const comparison = compareRuns(a, b);
  expect(await runRagpp('compare', a, b)).toEqual({ code: 0, stdout: renderComparisonText(comparison), stderr: '' });
  expect(existsSync(page)).toBe(false);
  expect(await runRagpp('compare', a, b, '--markdown', '--html', page)).toEqual({
    code: 0,
    stdout: renderComparisonMarkdown(comparison),
    stderr: `page: ${page}\n`,
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
