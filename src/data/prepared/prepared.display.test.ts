import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import type { Dataset } from '../../model/dataset.ts';
import { loadChatGptExport } from '../exports/chatgpt-export.ts';
import { fromTurns } from '../memory/from-turns.ts';
import { loadDataset } from '../registry.ts';
import { drawPlantedConversations } from '../synthetic/planted-conversations.ts';
import { buildPlantedDataset, loadSynthetic } from '../synthetic/synthetic.ts';
import { synthetic } from './datasets.ts';

test('a loaded dataset shows its counts, without those that are 0', async () => {
  const dataset = await loadDataset({
    name: 'jsonl',
    path: fileURLToPath(new URL('../../../examples/data', import.meta.url)),
  });
  const lines = (await readDisplay(dataset))['text/plain'].split('\n');
  expect(lines[0]).toBe(`${dataset.name}: ${dataset.declaration.task}`);
  expect(lines.map((line) => line.split(/\s{2,}/))).toContainEqual(['turns', '121']);
  expect(lines.filter((line) => / 0$/.test(line))).toEqual([]);
  expect(JSON.stringify(Object.keys(dataset))).not.toContain('display');
});

test.each<[string, () => Dataset | Promise<Dataset>]>([
  ['a function of a room', () => loadSynthetic(synthetic.options.parse({ name: 'synthetic', conversations: 3 }))],
  ['planted conversations', () => buildPlantedDataset(drawPlantedConversations({ conversations: 3 }))],
  [
    'an export',
    () => {
      const path = fileURLToPath(new URL('../../../examples/data/chatgpt-export', import.meta.url));
      return loadChatGptExport({ path, queries: 'none', queryFile: null });
    },
  ],
  [
    'values of a program',
    () =>
      fromTurns([{ id: 'a', conversationId: 'c', timestamp: 1, text: 'soup' }], [{ id: 'q', text: 'soup?' }], {
        q: { a: 1 },
      }),
  ],
])('a dataset from %s shows itself too', async (_, load) => {
  const dataset = await load();
  expect((await readDisplay(dataset))['text/plain']).toMatch(new RegExp(`^${dataset.name}: .+\nwhat +count\nturns `));
});
