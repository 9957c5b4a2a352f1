import { beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { drawTurns } from '../../kernel/policies/slices.fixture.ts';
import { type MemoryRecordInput, type Turn, toMemoryRecord } from '../../model/turns/turn.ts';
import type { Memory } from './memory.ts';
import { openMemory } from './open-memory.ts';
import type { ArmQuestion } from './query-response.ts';
import { embedWords, serveSteps } from './served-arm.fixture.ts';

beforeAll(() => useBackend('wasm'));

const policy = { maxNodes: 9, minPriority: 0, relationWeight: { author: 0.9, channel: 0.8, reference: 0.7 } };
/** Everything in a slice is found. */
const serveSliced = (own: object) =>
  serveSteps([{ slice: { policy: { ...policy, ...own } } }, { search: { newest: { k: 50 } } }]);
const arms = {
  given: serveSliced({ id: 'given' }),
  'newest of the author, or the channel': serveSliced({
    ...{ id: 'author', anchor: 'newest-of-author', unanchored: 'channel' },
  }),
  'newest of the conversation, or all': serveSliced({
    ...{ id: 'conversation', anchor: 'newest-of-conversation', unanchored: 'all' },
  }),
};

const describeRecord = (turn: Turn): MemoryRecordInput => toMemoryRecord(turn, { embedding: embedWords(turn.text) });

/** Adds the next turns, or changes, removes or adds late one of those before. */
async function change(memory: Memory, waiting: Turn[], source: Random): Promise<void> {
  const records = [...memory.records()];
  const kind = records.length < 9 ? 0 : source.integer(8);
  const record = records[source.integer(Math.max(1, records.length))]!;
  if (kind < 5) await memory.addBatch(waiting.splice(0, 1 + source.integer(3)).map(describeRecord));
  else if (kind === 5) await memory.remove(record.id);
  else if (kind === 6) await memory.upsert([{ ...record, author: 'a1' }]);
  else await memory.upsert([{ ...record, id: `${record.id} late`, createdAt: record.createdAt + 1, parentId: null }]);
}

function drawQuestion(memory: Memory, source: Random): ArmQuestion {
  const records = [...memory.records()];
  const [anchor, other] = [0, 1].map(() => records[source.integer(records.length)]!);
  return {
    ...{ text: 'text', author: `a${source.integer(7)}`, channel: `k${source.integer(4)}` },
    ...{ anchorTurnId: source.uniform() < 0.2 ? null : anchor!.id },
    ...(source.uniform() < 0.3 && { conversationId: anchor!.conversationId }),
    ...(source.uniform() < 0.3 && { asOf: Math.max(anchor!.createdAt, other!.createdAt) + 1 }),
  };
}

test.each(Object.entries(arms))('a memory that changes sees the slices of a new one: %s', async (name, arm) => {
  const source = createRandom(3, name);
  const waiting = drawTurns(60);
  const memory = await openMemory({ arm });
  let seen = 0;
  for (let step = 0; step < 25; step++) {
    await change(memory, waiting, source);
    const copy = await openMemory({ arm });
    await copy.addBatch([...memory.records()]);
    for (let i = 0; i < 2; i++) {
      const question = drawQuestion(memory, source);
      const { ranking } = await memory.ask(question);
      expect(ranking).toEqual((await copy.ask(question)).ranking);
      seen += ranking.length;
    }
    await copy.close();
  }
  expect(seen).toBeGreaterThan(100);
  await memory.close();
});
