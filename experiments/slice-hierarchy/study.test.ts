import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import type { TaskFigures } from './levels.ts';
import { sliceHierarchy } from './study.ts';

const folder = mkdtempSync(join(tmpdir(), 'slice-hierarchy-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Six sessions of five turns; the answers are in the first and in the last. */
const words = ['garden', 'violin', 'marathon', 'pottery', 'telescope', 'harbour'];
const sessions = Object.fromEntries(
  words.flatMap((word, session) => [
    [`session_${session + 1}_date_time`, `1:56 pm on ${session + 1} May, 2023`],
    [
      `session_${session + 1}`,
      ['One', 'Two', 'Three', 'Four', 'Five'].map((text, i) => ({
        ...{ speaker: 'Ana', dia_id: `D${session + 1}:${i + 1}` },
        text: i === 2 ? `About the ${word}.` : text,
      })),
    ],
  ]),
);
const ask = (word: string, session: number) => ({
  ...{ question: `What about the ${word}?`, answer: word, evidence: [`D${session}:3`], category: 4 },
});
const path = join(folder, 'conversations.json');
const conversations = ['conv-1', 'conv-2', 'conv-3'].map((sample_id) => ({
  ...{ sample_id, conversation: sessions, qa: [ask('garden', 1), ask('harbour', 6)] },
}));
writeFileSync(path, JSON.stringify(conversations));

test('levels and controls stay within the budget, and all turns hold every answer', async () => {
  const settings = sliceHierarchy.settings.parse({
    ...{ samples: 199, coarseShares: [0.5] },
    tasks: [
      {
        ...{ dataset: { name: 'locomo', path }, split: 'dev' },
        policy: { id: 'near', maxNodes: 7, minPriority: 0, anchor: 'newest-of-conversation' },
      },
    ],
  });
  const { figures } = await sliceHierarchy.measure(settings, { cacheFolder: folder, progress: ignoreProgress });
  const { relevant, rows } = (figures as { tasks: TaskFigures[] }).tasks[0]!;
  expect(relevant).toBe(6);
  expect(
    rows.map(({ arm, meanTurns, inadmissible, metrics }) => [arm, meanTurns, inadmissible, metrics[1]?.mean]),
  ).toEqual([
    // The first session is 28 turns away from the newest one.
    ['one level', 7, 3, 0.5],
    ['one level, newest turns instead', 7, 3, 0.5],
    // 3 turns where nothing is found to refine around, else 7.
    ['two levels, 0.5 for conversations', 5, 3, 0.5],
    ['two levels, 0.5 for conversations, newest turns instead', 5, 3, 0.5],
    ['all turns', null, 0, 1],
  ]);
});
