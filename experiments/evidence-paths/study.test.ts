import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { evidencePaths } from './study.ts';

const folder = mkdtempSync(join(tmpdir(), 'evidence-paths-'));
afterAll(() => rmSync(folder, { recursive: true }));

const texts = ['We adopted a beagle, Rufus.', 'Oslo is cold.', 'Snow fell.', 'Pasta again.', 'Rufus limps.'];
const path = join(folder, 'conversations.json');
const conversation = {
  session_1_date_time: '1:56 pm on 8 May, 2023',
  session_1: texts.map((text, i) => ({ speaker: 'Ana', dia_id: `D1:${i + 1}`, text })),
};
const question = { question: 'Which beagle was hurt?', answer: 'Rufus', evidence: ['D1:1', 'D1:5'], category: 1 };
const qa = Array.from({ length: 12 }, () => question);
writeFileSync(path, JSON.stringify([{ sample_id: 'conv-1', conversation, qa }]));

test('counts shared words, and edges by the next turn and by a shared concept', async () => {
  const settings = evidencePaths.settings.parse({ path, seedTurns: 1 });
  const { figures } = await evidencePaths.measure(settings, { cacheFolder: folder, progress: ignoreProgress });
  const { questions, relevant, rows } = figures as {
    questions: number;
    relevant: number;
    rows: { trait: string; relevant: number; relevantWithoutWords: number; all: number }[];
  };
  expect(questions).toBeGreaterThan(0);
  expect(questions).toBeLessThan(qa.length);
  expect(relevant).toBe(2 * questions);
  expect(rows.map((row) => [row.trait, row.relevant, row.relevantWithoutWords, row.all])).toEqual([
    ['shares no content word with the question', 1 / 2, 1, 4 / 5],
    ['mentions a concept of the question', 1 / 2, 0, 1 / 5],
    ['is among the first 10 of BM25', 1 / 2, 0, 1 / 5],
    ['is among the first 100 of BM25', 1 / 2, 0, 1 / 5],
    ['is at most 1 edge from the first 1 of BM25', 1 / 2, 0, 2 / 5],
    ['is at most 2 edges from the first 1 of BM25', 1, 1, 4 / 5],
    ['is at most 3 edges from the first 1 of BM25', 1, 1, 1],
    ['is at most 4 edges from the first 1 of BM25', 1, 1, 1],
  ]);
});
