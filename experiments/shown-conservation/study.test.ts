import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { shownConservation } from './study.ts';

const folder = mkdtempSync(join(tmpdir(), 'shown-conservation-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(() => useBackend('wasm'));

const WORDS = 'beagle limps snow Oslo pasta soup train late garden bread yeast violin string rent loan'.split(' ');
/** A conversation whose questions have the words of a turn, and, of a miss, of no turn that is relevant. */
function buildConversation(number: number) {
  const texts = WORDS.map((word, i) => `${word} ${WORDS[(i + number) % WORDS.length]} again today`);
  const session = texts.map((text, i) => ({ speaker: i % 2 ? 'Ana' : 'Bo', dia_id: `D1:${i + 1}`, text }));
  const qa = WORDS.map((word, i) => ({
    ...{ question: `What of the ${word} today again?`, answer: word, category: 4 },
    evidence: [`D1:${((i + (i % 3 === 0 ? 7 : 0)) % WORDS.length) + 1}`],
  }));
  const conversation = { session_1_date_time: '1:56 pm on 8 May, 2023', session_1: session };
  return { sample_id: `conv-${number}`, conversation, qa };
}

test('each arm of each dataset has an area for each predictor, over the queries with k turns', async () => {
  const path = join(folder, 'conversations.json');
  writeFileSync(path, JSON.stringify([1, 2, 3, 4].map(buildConversation)));
  const settings = shownConservation.settings.parse({
    ...{ locomo: path, limitQueries: 40, k: 3, samples: 100 },
    mailEmbedding: { encoder: 'lsa', dimension: 32 },
    locomoEmbedding: { encoder: 'lsa', dimension: 8 },
  });
  const { figures, dataset, sections } = await shownConservation.measure(settings, {
    ...{ cacheFolder: folder, progress: ignoreProgress },
  });
  const { rows } = figures as {
    rows: {
      readonly source: string;
      readonly arm: string;
      readonly queries: number;
      readonly misses: number;
      readonly predicted: { readonly predictor: string; readonly area: { readonly mean: number }; hitMean: number }[];
    }[];
  };
  expect(dataset.name).toBe('spamassassin-threads dev, locomo dev');
  expect(rows.map(({ source, arm }) => `${source} ${arm}`)).toEqual([
    ...['mail bm25', 'mail cosine', 'mail hybrid', 'mail hybrid × 24 h'],
    ...['locomo bm25', 'locomo cosine', 'locomo hybrid'],
  ]);
  for (const { queries, misses, predicted } of rows) {
    expect(misses).toBeGreaterThan(0);
    expect(misses).toBeLessThan(queries);
    expect(predicted).toHaveLength(5);
    for (const { area, hitMean } of predicted) {
      expect(area.mean).toBeGreaterThanOrEqual(0);
      expect(area.mean).toBeLessThanOrEqual(1);
      expect(Number.isFinite(hitMean)).toBe(true);
    }
  }
  expect(sections[1]).toContain('| locomo, hybrid ');
}, 300_000); // reads all mails
