import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import type { Memory } from '../../memory/engine/memory.ts';
import { openMemory } from '../../memory/engine/open-memory.ts';
import type { ServedArm } from '../../memory/engine/served-arm.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { type MemoryRecord, type Turn, toMemoryRecord } from '../../model/turns/turn.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { loadReplayedSample, REPLAYED_ARMS } from './replayed-arms.fixture.ts';
import { serveArm } from './served-arm.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-history-'));
afterAll(() => rmSync(root, { recursive: true }));

let config: ExperimentConfig;
let dataset: Dataset;
beforeAll(async () => {
  ({ config, dataset } = await loadReplayedSample(root));
});

const pick = <T>(from: readonly T[], source: Random): T => from[source.integer(from.length)] as T;

/** The record of a turn without the vector, which the memory makes. */
function describeRecord(turn: Turn) {
  const { embedding: _, ...record } = toMemoryRecord(turn, { embedding: new Float32Array() });
  return record;
}

/** Turns in an order that is not that of their times: some of them come late. */
function shuffleTurns(turns: readonly Turn[], source: Random): Turn[] {
  const places = turns.map((turn, i) => [i + source.integer(12), turn] as const);
  return places.sort(([a], [b]) => a - b).map(([, turn]) => turn);
}

/** Adds, changes or removes some records. */
async function change(memory: Memory, waiting: Turn[], source: Random): Promise<void> {
  const records = [...memory.records()];
  const draw = () => pick(records, source);
  const without = ({ embedding: _, ...record }: MemoryRecord) => record;
  const kinds: (() => Promise<unknown>)[] = [
    () => memory.addBatch(waiting.splice(0, 1 + source.integer(7)).map(describeRecord)),
    () => memory.remove(draw().id),
    () => memory.upsert([{ ...without(draw()), context: draw().context }]),
    () => memory.upsert([{ ...without(draw()), conversationId: draw().conversationId }]),
    () => memory.updateStats(draw().id, source.uniform()),
  ];
  await (records.length < 12 ? (kinds[0] as () => Promise<unknown>)() : pick([kinds[0]!, ...kinds], source)());
}

/** Answers a query from a memory at its moment, whose conversation or anchor may be gone. */
async function answer(memory: Memory, { text, author, timestamp, anchorTurnId }: Query, conversationId?: string) {
  const anchor = anchorTurnId !== null && memory.get(anchorTurnId) !== null ? anchorTurnId : null;
  const scope = conversationId === undefined ? {} : { conversationId };
  const { ranking } = await memory.ask({ text, author, asOf: timestamp, anchorTurnId: anchor, ...scope });
  return ranking;
}

/** A memory that is opened with the records of another. */
async function openCopy(memory: Memory, arm: ServedArm): Promise<Memory> {
  const copy = await openMemory({ arm, cache: { enabled: false }, outcomeRange: 'none' });
  await copy.addBatch([...memory.records()]);
  return copy;
}

test.each(REPLAYED_ARMS)(
  'after any changes and restarts %s answers as a memory of the records that are left',
  async (name) => {
    const before = tf.memory().numTensors;
    const arm = await serveArm(config, name, { cacheFolder: null, dataset });
    const source = createRandom(7, name);
    const open = () => openMemory({ arm, folder: join(root, name), cache: { enabled: false }, outcomeRange: 'none' });
    let memory = await open();
    const waiting = shuffleTurns(dataset.corpus.turns, source);
    let answered = 0;
    for (let round = 0; round < 6; round++) {
      for (let step = 0; step < 3; step++) {
        await change(memory, waiting, source);
        const query = pick(dataset.queries, source);
        await answer(memory, query, pick(dataset.corpus.conversations, source).id);
      }
      if (round === 3) {
        await memory.close();
        memory = await open();
      }
      const copy = await openCopy(memory, arm);
      for (const asked of [undefined, ...dataset.corpus.conversations.map(({ id }) => id)]) {
        const query = pick(dataset.queries, source);
        const ranking = await answer(memory, query, asked);
        expect(ranking).toEqual(await answer(copy, query, asked));
        answered += ranking.length;
      }
      await copy.close();
    }
    expect(answered).toBeGreaterThan(20);
    await memory.close();
    await arm.dispose();
    expect(tf.memory().numTensors).toBe(before);
  },
);
