import { expect, test } from 'vitest';
import { runBenchCommand } from './command.harness.ts';

test('kills writers and prints what they had written', async () => {
  const { status, output } = await runBenchCommand('memory-kills', '--kills', '2', '--seed', '3');
  expect(status).toBe(0);
  expect(output).toMatch(/^kills +while writing .* unacknowledged\n/);
  expect(output).toMatch(/\n2 .*\nevery acknowledged operation was there after each kill\n$/);
});
