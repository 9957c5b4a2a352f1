import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-table-'));
afterAll(() => rmSync(root, { recursive: true }));
const published = 'results/quickstart';
const { arms } = JSON.parse(readFileSync(`${published}/metrics.json`, 'utf8'));

test('a table of a published run is printed, in the figures of the run', async () => {
  const columns = ['--columns', 'nDCG@10,p', '--format', 'csv'];
  const { code, stdout, stderr } = await runRagpp('table', published, '--arms', 'bm25,+ IRCP, directed', ...columns);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [head, words, last] = stdout.split('\n');
  expect(head).toBe('arm,ndcg@10,ndcg@10.p');
  const bm25 = arms.find(({ name }: { name: string }) => name === 'bm25');
  expect(words).toBe(`bm25,${bm25.metrics['ndcg@10'].mean},${bm25.comparisons['ndcg@10'].correctedP}`);
  expect(last).toMatch(/^"'\+ IRCP, directed",/);
});

test('of a training: its arms, with the intervals and tests that the training measured', async () => {
  const training = 'results/learning-locomo';
  const { arms: methods } = JSON.parse(readFileSync(`${training}/metrics.json`, 'utf8'));
  const choice = ['--arms', 'learned,hand-tuned', '--columns', 'ndcg@10,p'];
  const csv = await runRagpp('table', training, ...choice, '--format', 'csv');
  const learned = methods.find(({ name }: { name: string }) => name === 'learned');
  const { mean } = learned.metrics['ndcg@10'];
  expect(csv.stdout.split('\n')[1]).toBe(`learned,${mean},${learned.comparisons['ndcg@10'].correctedP}`);
  const { stdout } = await runRagpp('table', training, ...choice, '--format', 'latex');
  expect(stdout).toContain('\\caption{learning-locomo on locomo, dev}');
  expect(stdout).toContain('corrected by Holm over the 4 other arms of the run');
  expect(stdout).toContain('896 queries in 6 conversations');
});

test('or written to a file alone', async () => {
  const out = join(root, 'papers', 'table.tex');
  const { code, stdout } = await runRagpp('table', published, '--format', 'latex', '--digits', '2', '--out', out);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  expect(readFileSync(out, 'utf8')).toMatch(/^% \\usepackage\{booktabs\}[\s\S]*\\end\{table\}\n$/);
  expect(readdirSync(join(root, 'papers'))).toEqual(['table.tex']);
});

test.each([
  [['none'], 1, /none/],
  [[published, '--arms', 'bm52'], 1, /unknown arm: bm52; use bm25\n$/],
  [[published, '--digits', '0'], 2, /not a whole number from 1 to 10; give the digits after the point\./],
  [[published, '--format', 'html'], 2, /Allowed choices are latex, markdown, csv/],
])('%j is wrong usage', async (argv, exit, message) => {
  const { code, stdout, stderr } = await runRagpp('table', ...argv);
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' });
  expect(stderr).toMatch(message);
});
