import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readDisplay } from '../core/display.harness.ts';
import { loadDataset } from './registry.ts';

test('a loaded dataset shows its counts, without those that are 0', async () => {
  const dataset = await loadDataset({
    name: 'jsonl',
    path: fileURLToPath(new URL('../../examples/data', import.meta.url)),
  });
  const lines = (await readDisplay(dataset))['text/plain'].split('\n');
  expect(lines[0]).toBe(`${dataset.name}: ${dataset.declaration.task}`);
  expect(lines.map((line) => line.split(/\s{2,}/))).toContainEqual(['turns', '121']);
  expect(lines.filter((line) => / 0$/.test(line))).toEqual([]);
  expect(JSON.stringify(Object.keys(dataset))).not.toContain('display');
});
