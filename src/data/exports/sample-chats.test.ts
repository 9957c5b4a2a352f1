import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { loadDataset } from '../registry.ts';
import { describeNoLeak } from './leak.harness.ts';

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

interface SampleChat {
  readonly create_time: number;
  readonly mapping: Readonly<Record<string, { readonly message: { readonly create_time: number | null } | null }>>;
}

const cut = mkdtempSync(join(tmpdir(), 'sample-chats-'));
afterAll(() => rmSync(cut, { recursive: true }));

/** The sample as it was at a time: nodes without a time, which say nothing, stay. */
async function loadSampleUntil(end: number) {
  const isEarlier = (seconds: number | null | undefined) => Math.round((seconds ?? 0) * 1000) < end;
  const chats = (JSON.parse(readFileSync(file, 'utf8')) as SampleChat[])
    .filter((chat) => isEarlier(chat.create_time))
    .map(({ mapping, ...chat }) => ({
      ...chat,
      mapping: Object.fromEntries(Object.entries(mapping).filter(([, { message }]) => isEarlier(message?.create_time))),
    }));
  const path = join(cut, 'conversations.json');
  writeFileSync(path, JSON.stringify(chats));
  return loadDataset({ name: 'chatgpt-export', path, queries: 'none' });
}

describeNoLeak(
  'the sample export',
  () => loadDataset({ name: 'chatgpt-export', path: join(folder, 'chatgpt-export') }),
  loadSampleUntil,
  true,
);
