import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { runDamageRounds } from './damage.harness.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-damage-'));
afterAll(() => rmSync(folder, { recursive: true }));

// `npm run bench -- memory-kills --rounds N` goes through more.
test('after damage, a write, a kill and an opening, indexes find what the records are, and every lost change is reported', async () => {
  const report = await runDamageRounds(folder, 12, 3);
  expect(report.damaged).toBeGreaterThan(5);
  expect(report.reported).toBeGreaterThan(2);
  expect(report.kept).toBeGreaterThan(50);
});
