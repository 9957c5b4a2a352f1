import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StorageError } from '../../core/errors/errors.ts';
import { writeClaudeChat, writeClaudeMessage } from '../exports/claude.fixture.ts';
import { loadDataset } from '../registry.ts';
import { setDataFolder } from './prepared.ts';

const folder = mkdtempSync(join(tmpdir(), 'data-folder-'));
afterAll(() => rmSync(folder, { recursive: true }));
const chat = writeClaudeChat('c', 1, [writeClaudeMessage({ id: 'a', role: 'person', time: 1, text: 'lentils' })]);
writeFileSync(join(folder, 'chats.json'), JSON.stringify([chat]));
writeFileSync(join(folder, 'asked.jsonl'), '{"text": "which lentils"}\n');

test('the data and the queries of a config are looked for in its folder', async () => {
  const options = { name: 'claude-export', path: 'chats.json', queries: 'own', queryFile: 'asked.jsonl' } as const;
  await expect(loadDataset({ ...options })).rejects.toThrow(StorageError);
  const written = { ...options };
  setDataFolder(written, folder);
  expect((await loadDataset(written)).queries.map(({ text }) => text)).toEqual(['which lentils']);
  expect(written).toEqual(options);
});
