import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadDataset } from '../registry.ts';

const folder = fileURLToPath(new URL('../../../examples/data', import.meta.url));
const file = join(folder, 'chatgpt-export', 'conversations.json');

test('the sample export is what its script writes', async () => {
  const { drawChatGptExport } = (await import(join(folder, 'write-chatgpt-export.ts'))) as {
    readonly drawChatGptExport: (seed: number) => string;
  };
  expect(drawChatGptExport(20260101)).toBe(readFileSync(file, 'utf8'));
  expect(statSync(file).size).toBeLessThan(300_000);
});

test('the sample export has branches, tools and pictures, and a query for each chat', async () => {
  const { corpus, queries, facts } = await loadDataset({
    name: 'chatgpt-export',
    path: join(folder, 'chatgpt-export'),
  });
  expect([corpus.conversations.length, queries.length, corpus.size]).toEqual([40, 40, facts.messages]);
  for (const fact of [
    'messages on branches that are not shown',
    'skipped: tool messages',
    'left out of a message: image_asset_pointer',
    'not asked: new versions of an earlier message',
  ])
    expect(facts[fact], fact).toBeGreaterThan(0);
});
