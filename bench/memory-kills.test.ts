import { expect, test } from 'vitest';
import { runBenchCommand } from './command.harness.ts';

test('kills writers, damages what they had written, and prints what was there', async () => {
  const { status, output } = await runBenchCommand('memory-kills', '--kills', '2', '--rounds', '2', '--seed', '3');
  expect(status).toBe(0);
  expect(output).toMatch(/^kills +while writing .* unacknowledged\n/);
  expect(output).toMatch(/\n2 .*\nevery acknowledged operation was there after each kill\n/);
  expect(output).toMatch(/\nrounds +damaged .*\n-.*\n2 .*\nwithout damage nothing was lost; .*\n$/);
});
