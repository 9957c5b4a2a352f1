import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runRagpp } from './command.harness.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-fuse-'));
afterAll(() => rmSync(root, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(root, name);
  writeFileSync(path, text);
  return path;
}

const left = write('left.trec', 'q1 Q0 a 1 9 left\nq1 Q0 b 2 8 left\n');
const right = write('right.jsonl', '{"query": "q1", "ranking": ["b", "c"]}\n');
const out = join(root, 'fused.trec');

test('runs of two formats are fused into a TREC run', async () => {
  const outcome = await runRagpp(
    'fuse',
    left,
    right,
    '--method',
    'rrf',
    '--set',
    'k=1',
    '--set',
    'weights.left=4',
    '--out',
    out,
  );
  expect(outcome).toMatchObject({ code: 0, stderr: '', stdout: `${out}: 1 queries of left, right\n` });
  // By hand: 4 / (1 + rank) on the left, 1 / (1 + rank) on the right.
  const scores = [4 / 2, 4 / 3 + 1 / 2, 1 / 3];
  expect(readFileSync(out, 'utf8')).toBe(
    ['a', 'b', 'c'].map((id, i) => `q1 Q0 ${id} ${i + 1} ${scores[i]} rrf\n`).join(''),
  );
});

test('errors of the files are printed, and the fusion goes on', async () => {
  const twice = write('twice.trec', 'q1 Q0 a 1 9 twice\nq1 Q0 a 2 8 twice\n');
  const outcome = await runRagpp('fuse', twice, right, '--method', 'combmnz', '--out', out, '--tag', 'both');
  expect(outcome.code).toBe(0);
  expect(outcome.stderr).toMatch(/^ragpp: warning \(repeated-document\): twice: 1 lines repeat/);
  expect(readFileSync(out, 'utf8')).toMatch(/^q1 Q0 \S+ 1 \S+ both\n/);
});

test.each([
  [['--method', 'rfr'], /method: expected .*"rrf"/],
  [['--method', 'rrf', '--set', 'kk=3'], /unknown key "kk"/],
  [['--method', 'rrf', '--depth', '0'], /not a whole number from 1/],
])('%j is refused', async (flags, message) => {
  const outcome = await runRagpp('fuse', left, right, '--out', join(root, 'none.trec'), ...flags);
  expect(outcome.code).toBe(2);
  expect(outcome.stderr).toMatch(message);
});
