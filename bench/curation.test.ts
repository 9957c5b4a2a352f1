import { expect, test } from 'vitest';
import { runBenchCommand } from './command.harness.ts';

test('measures curation with both indexes, synced and not', async () => {
  const { status, output } = await runBenchCommand('curation', '--n', '60', '--dimension', '64');
  expect(status).toBe(0);
  expect(output.match(/\n(flat|hnsw), fsync (always|never) +60 +15 +[.\d]+ +\d+ +\d+/g)).toHaveLength(4);
});

test('a wrong option ends with 2', async () => {
  const errors = '--n is not an integer: few; give one from 1\n';
  expect(await runBenchCommand('curation', '--n', 'few')).toMatchObject({ status: 2, errors });
});
