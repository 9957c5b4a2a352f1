import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { noteProgress } from '../core/terminal/progress.harness.ts';
import { MUSIQUE } from './documents/multihop.fixture.ts';
import { DOCUMENTS, QRELS, TOPICS } from './documents/trec-collection.fixture.ts';
import { encodeChatGptExport } from './exports/chatgpt.fixture.ts';
import { encodeClaudeExport } from './exports/claude.fixture.ts';
import { TALK } from './exports/export-queries.harness.ts';
import { encodeSlackExport } from './exports/slack.fixture.ts';
import { encodeTelegramExport } from './exports/telegram.fixture.ts';
import { writeIrcSample } from './irc/irc.fixture.ts';
import { buildLocomoSamples } from './locomo/locomo.fixture.ts';
import { type DatasetInput, loadDataset } from './registry.ts';

const root = mkdtempSync(join(tmpdir(), 'loader-progress-'));
const log = { said: ['[05:00] <ana> milk?', '[05:02] <eve> no'], links: ['1000 1001'] };
const irc = writeIrcSample({ 'train/2005-06-27.train-a': log, 'dev/2004-11-15_03': log });
afterAll(() => {
  for (const folder of [root, irc]) rmSync(folder, { recursive: true });
});

function write(name: string, content: string | Uint8Array): string {
  writeFileSync(join(root, name), content);
  return join(root, name);
}
const tree = {
  message_tree_id: 'a',
  prompt: {
    ...{ message_id: 'a', text: 'how many eggs?', role: 'prompter' },
    replies: [{ message_id: 'b', text: 'four', role: 'assistant', replies: [] }],
  },
};
write('musique.json', JSON.stringify(MUSIQUE.questions));
write('passages.json', JSON.stringify(MUSIQUE.passages));
for (const [name, text] of Object.entries({ 'docs.trec': DOCUMENTS, 'topics.trec': TOPICS, qrels: QRELS }))
  write(name, text);
const trec = { documents: ['docs.trec'], topics: 'topics.trec', qrels: 'qrels' };

test.each<[string, number, DatasetInput]>([
  ['logs', 2, { name: 'irc', path: irc }],
  ['samples', 2, { name: 'locomo', path: write('locomo.json', JSON.stringify(buildLocomoSamples())) }],
  [
    'bytes of trees.jsonl',
    JSON.stringify(tree).length,
    { name: 'oasst', path: write('trees.jsonl', JSON.stringify(tree)) },
  ],
  ['files of documents', 1, { name: 'trec-collection', path: root, ...trec }],
  ['files of chats', 1, { name: 'chatgpt-export', path: write('chatgpt.json', encodeChatGptExport(TALK)) }],
  ['files of chats', 1, { name: 'claude-export', path: write('claude.json', encodeClaudeExport(TALK)) }],
  ['chats', 1, { name: 'telegram-export', path: write('telegram.json', encodeTelegramExport(TALK)) }],
  ['days of channels', 1, { name: 'slack-export', path: write('slack.zip', encodeSlackExport(TALK)) }],
])('%s are reported while a dataset is loaded: %i', async (stage, total, options) => {
  const { stages, progress } = noteProgress();
  await loadDataset(options, { progress });
  expect(stages).toEqual([[stage, total, total]]);
});

test('the files of questions and passages are reported while they are read', async () => {
  const { stages, progress } = noteProgress();
  await loadDataset(
    { name: 'multihop', path: root, questions: 'musique.json', passages: 'passages.json' },
    { progress },
  );
  expect(stages).toEqual([['passages and questions', 3, 2]]);
});
