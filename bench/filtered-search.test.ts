import { expect, test } from 'vitest';
import { runBenchCommand } from './command.harness.ts';
import { formatFilteredRows } from './filtered-search.ts';

test('measures the graph and the comparison of all beside the exact index, at every share', async () => {
  const options = ['--size', '211', '--dimension', '13', '--queries', '5', '--backend', 'wasm'];
  const { status, output, errors } = await runBenchCommand('filtered-search', ...options);
  expect([status, errors]).toEqual([0, '']);
  expect(output).toMatch(/^machine: .* backend wasm\ndata: 211 x 13 .* seed 7\n/);
  const lines = output.trim().split('\n').slice(-8);
  expect(lines.map((line) => line.trim().split(/ +/)[0])).toEqual(['0.1', '1', '10', '20', '30', '40', '50', '100']);
  for (const line of lines.slice(0, -1)) expect(line).toMatch(/ 1\.0000 .* 1\.0000 .* compared$/);
  expect(lines.at(-1)).toMatch(/ 211 .* 1\.0000 .* graph$/);
});

test('a wrong option ends with 2', async () => {
  const errors: unknown = expect.stringMatching(/^--size is not an integer: many; give one from 1\n$/);
  expect(await runBenchCommand('filtered-search', '--size', 'many')).toMatchObject({ status: 2, errors });
});

test('every turn visible has no comparison of all', () => {
  const searched = { milliseconds: 1.5, recall: 0.98765 };
  const row = { percent: 100, count: 7, graph: searched, compared: null, flat: searched, chosen: 'graph' as const };
  expect(formatFilteredRows([row]).split('\n').at(-1)).toBe(
    '100            7     1.500     0.9877                            1.500      graph',
  );
});
