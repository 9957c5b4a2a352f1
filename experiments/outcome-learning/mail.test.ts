import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadReplayedSample } from '../../src/lab/run/replayed-arms.fixture.ts';
import { openMemory } from '../../src/memory/engine/open-memory.ts';
import { embedWords, serveSteps } from '../../src/memory/engine/served-arm.fixture.ts';
import type { Dataset } from '../../src/model/dataset.ts';
import { toMemoryRecord } from '../../src/model/turns/turn.ts';
import { rankByOutcomes, recordAnswers } from './mail.ts';

const folder = mkdtempSync(`${tmpdir()}/ragpp-answers-`);
afterAll(() => rmSync(folder, { recursive: true }));
let dataset: Dataset;
beforeAll(async () => {
  ({ dataset } = await loadReplayedSample(folder));
});

test('an outcome counts once its hours have passed, and not before', async () => {
  const recorded = new Map([
    ['a', { outcome: 1, at: 10 }],
    ['b', { outcome: -1, at: 11 }],
  ]);
  const ranking = ['b', 'a', 'c'].map((id, i) => ({ id, score: 1 - i / 10 }));
  const rank = async (timestamp: number) =>
    (await rankByOutcomes(ranking, { timestamp }, recorded, 0.5)).map(({ id }) => id);
  expect(await rank(10)).toEqual(['b', 'a', 'c']);
  expect(await rank(11)).toEqual(['a', 'b', 'c']);
  expect(await rank(12)).toEqual(['a', 'c', 'b']);
});

test('rankings are those of a memory with the same outcomes recorded, by the arm with a boost', async () => {
  const words = { search: { bm25: { k: 200 } } };
  const boost = { boost: [{ attribute: 'outcome', factor: 0.5 }] };
  const answered = recordAnswers(dataset, 2, -1);
  const embed = (text: string) => ({ embedding: embedWords(text) });
  const ask = async (steps: object[], at: number, text: string, isTold: boolean) => {
    const memory = await openMemory({ arm: serveSteps(steps as never, { depth: 200 }), outcomeRange: [-1, 1] });
    const earlier = dataset.corpus.turns.filter(({ timestamp }) => timestamp < at);
    await memory.addBatch(earlier.map((turn) => toMemoryRecord(turn, embed(turn.text))));
    for (const { id } of isTold ? earlier : []) {
      const found = answered.get(id);
      if (found !== undefined && found.at < at) await memory.updateStats(id, found.outcome);
    }
    const { ranking } = await memory.ask({ text, asOf: at });
    await memory.close();
    return ranking.filter(({ score }) => score > 0).map(({ id, score }) => ({ id, score }));
  };
  let moved = 0;
  for (const query of dataset.queries.slice(-9)) {
    const plain = await ask([words], query.timestamp, query.text, false);
    const told = await ask([words, boost], query.timestamp, query.text, true);
    const ranked = await rankByOutcomes(plain, query, answered, 0.5);
    expect(ranked.map(({ id }) => id)).toEqual(told.map(({ id }) => id));
    if (ranked[0]?.id !== plain[0]?.id) moved++;
  }
  expect(moved).toBeGreaterThan(0);
});
