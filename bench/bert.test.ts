import { expect, test } from 'vitest';
import { runBenchCommand } from './command.harness.ts';

test('prints the time, the rate and the launches of a pass for each size', async () => {
  const small = ['--lengths', '5,9', '--batches', '1,2', '--layers', '1', '--rounds', '1', '--backend', 'cpu'];
  const { status, output } = await runBenchCommand('bert', ...small);
  expect(status).toBe(0);
  expect(output).toContain('weights: 1 layers of 384 numbers, random, seed 1');
  for (const row of ['1 +5', '1 +9', '2 +5', '2 +9'])
    expect(output).toMatch(new RegExp(`\\n *${row}( +\\d+\\.\\d+){4} +[1-9]\\d+`));
});
