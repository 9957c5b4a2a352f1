import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runRagpp } from '../command.harness.ts';
import { FailedCheck } from './supervision.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-failed-check-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('is an error with what was checked, by its own name', () => {
  const error = new FailedCheck('2 topics differ');
  expect(error).toBeInstanceOf(Error);
  expect(String(error)).toBe('FailedCheck: 2 topics differ');
});

test('exits with 1, without a word beside what the command has said', async () => {
  const cases = [{ name: 'wrong', method: 'combsum', lists: [[['a', 1]]], expected: { a: 7 } }];
  writeFileSync(join(folder, 'fusion.json'), JSON.stringify({ topic: 'fusion', note: 'one wrong figure', cases }));
  const { code, stdout, stderr } = await runRagpp('verify', '--backend', 'cpu', '--golden', folder);
  expect(code).toBe(1);
  expect(stdout).toContain('expected 7');
  expect(stderr).toMatch(/^golden cases: 1 in 1 topics \(\d+\.\d s\)\n$/);
});
