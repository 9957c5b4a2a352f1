import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { measureBytesNow } from '../experiments/memory/held-bytes.ts';
import { ValidationError } from '../src/core/errors/errors.ts';
import { createRandom, type Random } from '../src/core/numbers/random.ts';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import type { Memory } from '../src/memory/engine/memory.ts';
import { openMemory } from '../src/memory/engine/open-memory.ts';
import type { Query } from '../src/model/dataset.ts';
import { Corpus } from '../src/model/turns/corpus.ts';
import { type Turn, toMemoryRecord } from '../src/model/turns/turn.ts';
import { rankArm } from '../src/rank/retrieval/retriever.ts';
import { Workspace } from '../src/rank/signals/workspace.ts';
import { fitGrowthExponent } from './growth.ts';
import { parsePositiveOption } from './integer-option.ts';
import { LIVE_ARMS, serveLiveArm } from './live-arms.ts';
import { drawTopicText } from './synthetic-threads.ts';
import { formatTextTable } from './text-table.ts';
import { median } from './timing.ts';

export const LIVE_USAGE = `live [options]         what a turn costs a memory that answers by an arm, and a question, beside the same questions in a batch
    --sizes N,M    turns in the memory (default 1000,10000)
    --arms A,B     of ${Object.keys(LIVE_ARMS).join(', ')} (default all)
    --turns T      of one conversation (default 50)
    --rounds R     turns that are added, each followed by questions (default 10)
    --dimension D  of the vectors (default 128)
    --seed S       (default 7)
    --backend B    auto, ${BACKENDS.join(', ')} (default auto)`;

const MINUTE = 60_000;
const TOPICS = 1000;

interface LiveSettings {
  readonly turns: number;
  readonly rounds: number;
  readonly dimension: number;
  readonly seed: number;
}

/** Milliseconds, medians over the rounds, for an arm over N turns. */
export interface LiveCost {
  readonly arm: string;
  readonly size: number;
  /** The write of a turn. */
  readonly write: number;
  /** A question to the conversation that got the turn, beyond what the question costs where nothing changed. */
  readonly changed: number;
  /** The same for a question to all conversations. */
  readonly changedWhole: number;
  /** All times of a question to one conversation where nothing changed. */
  readonly asked: readonly number[];
  /** The same for questions to all conversations. */
  readonly askedWhole: readonly number[];
  /** A question to one conversation, and to all, in a batch of as many. */
  readonly batch: number;
  readonly batchWhole: number;
  /** KiB a turn that the process holds more with the memory, which has answered, than without: records and what ranks. */
  readonly held: number;
}

/** Conversations that grow by a turn each minute. */
class LiveTurns {
  /** All so far. */
  readonly turns: Turn[] = [];
  readonly #source: Random;
  readonly #conversations: number;
  readonly #last = new Map<string, string>();

  constructor(size: number, { turns, seed }: LiveSettings) {
    this.#source = createRandom(seed, 'live turns');
    this.#conversations = Math.max(1, Math.round(size / turns));
  }

  get now(): number {
    return this.turns.length * MINUTE + 1;
  }

  drawText(): string {
    return drawTopicText(this.#source, this.#source.integer(TOPICS));
  }

  next(): Turn {
    const [id, conversationId] = [`turn-${this.turns.length}`, `c${this.#source.integer(this.#conversations)}`];
    const parentId = this.#last.get(conversationId) ?? null;
    this.#last.set(conversationId, id);
    const timestamp = (this.turns.length + 1) * MINUTE;
    const turn = { ...{ id, conversationId, parentId, timestamp }, author: null, channel: null, text: this.drawText() };
    this.turns.push(turn);
    return turn;
  }
}

/** The record of a turn, which the memory embeds. */
function toAddedRecord(turn: Turn) {
  const { embedding: _, ...record } = toMemoryRecord(turn, { embedding: new Float32Array() });
  return record;
}

interface AskedLive {
  readonly text: string;
  readonly conversationId?: string;
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Adds turns one at a time, and asks after each. */
async function measureRounds(memory: Memory, turns: LiveTurns, { rounds }: LiveSettings) {
  const times = {
    write: [] as number[],
    changed: [] as number[],
    changedWhole: [] as number[],
    asked: [] as number[],
    askedWhole: [] as number[],
    questions: [] as AskedLive[],
  };
  for (let round = -1; round < rounds; round++) {
    const isWarmUp = round < 0;
    const ask = (asked: AskedLive) => time(() => memory.ask({ ...asked, asOf: turns.now }));
    for (const kind of ['asked', 'askedWhole'] as const) {
      const turn = turns.next();
      const question = { text: turns.drawText(), ...(kind === 'asked' && { conversationId: turn.conversationId }) };
      await ask(question);
      const write = await time(() => memory.add(toAddedRecord(turn)));
      const first = await ask(question);
      const again = await ask(question);
      if (isWarmUp) continue;
      times.write.push(write);
      times[kind].push(again);
      times[kind === 'asked' ? 'changed' : 'changedWhole'].push(first - again);
      times.questions.push(question);
    }
  }
  return times;
}

/** Milliseconds of a question among some that are asked at once: of those to one conversation, then of the others. */
async function measureBatches(
  { turns, now }: LiveTurns,
  arm: string,
  questions: readonly AskedLive[],
  dimension: number,
): Promise<[number, number]> {
  const { options, embed, seed } = serveLiveArm(arm, dimension);
  const corpus = new Corpus(turns);
  const queries = questions.map(
    ({ text, conversationId }, i): Query => ({
      ...{ id: `q${i}`, text, timestamp: now, author: null, channel: null, anchorTurnId: null },
      ...(conversationId !== undefined && { conversationId }),
      ...{ split: 'test', cluster: 'live' },
    }),
  );
  const embedTexts = async (owners: readonly { readonly text: string }[]) =>
    (
      await embed(
        owners.map(({ text }) => text),
        [],
        null,
      )
    ).vectors;
  const [turnVectors, queryVectors] = [await embedTexts(corpus.turns), await embedTexts(queries)];
  const workspace = new Workspace({ corpus, queries, turnVectors, queryVectors, dimension, seed });
  const ask = async (asked: readonly number[]) => {
    const batch = workspace.withQueries(asked);
    const milliseconds = await time(() => rankArm(batch, { ...options, name: arm }, 10));
    batch.dispose();
    return milliseconds / asked.length;
  };
  const measure = async (isScoped: boolean) => {
    const asked = [...queries.keys()].filter((i) => (queries[i]?.conversationId !== undefined) === isScoped);
    await ask(asked.slice(0, 1)); // what is made of the turns once
    return ask(asked);
  };
  try {
    return [await measure(true), await measure(false)];
  } finally {
    workspace.dispose();
  }
}

/** Fills a memory of N turns, and measures. */
export async function measureLive(arm: string, size: number, settings: LiveSettings): Promise<LiveCost> {
  const before = await measureBytesNow();
  const served = serveLiveArm(arm, settings.dimension);
  const memory = await openMemory({ arm: served, cache: { enabled: false }, outcomeRange: 'none' });
  try {
    const turns = new LiveTurns(size, settings);
    await memory.addBatch(Array.from({ length: size }, () => toAddedRecord(turns.next())));
    const { questions, write, changed, changedWhole, ...times } = await measureRounds(memory, turns, settings);
    const held = ((await measureBytesNow()) - before) / 1024 / size;
    const [batch, batchWhole] = await measureBatches(turns, arm, questions, settings.dimension);
    return {
      ...{ arm, size, held, batch, batchWhole, ...times },
      ...{ write: median(write), changed: median(changed), changedWhole: median(changedWhole) },
    };
  } finally {
    await memory.close();
    await served.dispose();
  }
}

const percentile = (times: readonly number[], share: number) =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(share * times.length))]!;

const HEADER = [
  ...['arm', 'turns', 'write', 'turn: its conversation', 'turn: all', 'conversation p50', 'p95', 'batch'],
  ...['all p50', 'p95', 'batch', 'KiB a turn'],
];

/** A row for each arm and size, and under the sizes of an arm how each time grows with them. */
export function formatLiveTable(costs: readonly LiveCost[]): string {
  const readTimes = (cost: LiveCost) => [
    ...[cost.write, cost.changed, cost.changedWhole],
    ...[percentile(cost.asked, 0.5), percentile(cost.asked, 0.95), cost.batch],
    ...[percentile(cost.askedWhole, 0.5), percentile(cost.askedWhole, 0.95), cost.batchWhole, cost.held],
  ];
  const lines = [...new Set(costs.map(({ arm }) => arm))].flatMap((arm) => {
    const own = costs.filter((cost) => cost.arm === arm);
    const rows = own.map((cost) => [arm, `${cost.size}`, ...readTimes(cost).map((value) => value.toFixed(2))]);
    if (own.length < 2) return rows;
    const fit = (_: string, column: number) => {
      const times = own.map((cost) => ({ size: cost.size, seconds: readTimes(cost)[column]! / 1000 }));
      // A cost below what the same question varies by has no exponent.
      return times.every(({ seconds }) => seconds > 0) ? fitGrowthExponent(times).toFixed(2) : '-';
    };
    const exponents = HEADER.slice(2).map(fit);
    return [...rows, [arm, 'exponent', ...exponents]];
  });
  return formatTextTable(HEADER, lines, 2);
}

function parseOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: { type: 'string', default: '1000,10000' },
      arms: { type: 'string', default: Object.keys(LIVE_ARMS).join(',') },
      turns: { type: 'string', default: '50' },
      rounds: { type: 'string', default: '10' },
      dimension: { type: 'string', default: '128' },
      seed: { type: 'string', default: '7' },
      backend: { type: 'string', default: 'auto' },
    },
  });
  const arms = values.arms.split(',');
  const unknown = arms.find((arm) => !Object.hasOwn(LIVE_ARMS, arm));
  if (unknown !== undefined)
    throw new ValidationError(`unknown arm: ${unknown}; use some of ${Object.keys(LIVE_ARMS).join(', ')}`);
  return {
    arms,
    sizes: values.sizes.split(',').map((size) => parsePositiveOption('sizes', size)),
    backend: values.backend as BackendChoice,
    settings: {
      turns: parsePositiveOption('turns', values.turns),
      rounds: parsePositiveOption('rounds', values.rounds),
      dimension: parsePositiveOption('dimension', values.dimension),
      seed: parsePositiveOption('seed', values.seed),
    },
  };
}

export async function benchLive(args: readonly string[]): Promise<void> {
  const { arms, sizes, backend, settings } = parseOptions(args);
  const chosen = await useBackend(backend);
  const { turns, rounds, dimension, seed } = settings;
  console.log(
    `milliseconds, medians of ${rounds}; ${turns} turns a conversation, D = ${dimension}, seed ${seed}, backend ${chosen}, ${cpus()[0]?.model}, load ${loadavg()[0]?.toFixed(1)}`,
  );
  console.log('turn: what a question costs more after a turn than where nothing changed');
  const costs: LiveCost[] = [];
  for (const arm of arms) for (const size of sizes) costs.push(await measureLive(arm, size, settings));
  console.log(formatLiveTable(costs));
}
