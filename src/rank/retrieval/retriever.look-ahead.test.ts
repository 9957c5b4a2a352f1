import * as tf from '@tensorflow/tfjs-core';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import {
  createSampleWorkspace,
  DIMENSION,
  drawSampleText,
  drawSampleTurn,
  drawSampleVector,
  drawSampleWorld,
  HOUR_MILLISECONDS,
  type SampleWorld,
} from '../signals/corpus.fixture.ts';
import { SAMPLE_ARMS } from './arms.fixture.ts';
import { retrieve } from './retriever.ts';

beforeAll(() => useBackend('wasm'));

/** By candidate id the score and its components. */
type Answer = ReadonlyMap<string, Readonly<Record<string, number>>>;

/** What every arm answers to the queries up to a moment, by `arm, query`. */
async function answerAll(world: SampleWorld, moment: number): Promise<Map<string, Answer>> {
  const workspace = createSampleWorkspace(world);
  const found = new Map<string, Answer>();
  try {
    for (const [arm, options] of Object.entries(SAMPLE_ARMS)) {
      const { pool, scores, components } = await retrieve(workspace, options);
      for (const [q, { id, timestamp }] of world.queries.entries()) {
        if (timestamp > moment) continue;
        const answer = new Map<string, Record<string, number>>();
        for (let pair = q * pool.width; pair < (q + 1) * pool.width; pair++) {
          const turn = workspace.corpus.turns[pool.positions[pair] as number];
          if (turn === undefined) continue;
          const parts = [...components].map(([name, column]) => [name, column[pair]]);
          answer.set(turn.id, { score: scores[pair], ...Object.fromEntries(parts) });
        }
        found.set(`${arm}, ${id}`, answer);
      }
    }
  } finally {
    workspace.dispose();
  }
  return found;
}

/** The turn with another text, parent, conversation or channel, or the same one. */
function changeTurn(source: Random, turn: Turn, before: readonly Turn[]): Turn {
  const timestamp = turn.timestamp + source.integer(2) * HOUR_MILLISECONDS;
  const parents = before.filter((other) => other.timestamp <= timestamp);
  const other = drawSampleTurn(source, turn.id, timestamp, 9, parents);
  return source.integer(3) === 0 ? { ...turn, parentId: null, text: drawSampleText(source) } : other;
}

/** The same world up to the moment, and another one from there on: turns are gone, changed and new, and so are the later queries. */
function withOtherFuture({ turns, queries, vectorOf }: SampleWorld, moment: number, seed: number): SampleWorld {
  const source = createRandom(seed, 'other-future');
  const past = turns.filter((turn) => turn.timestamp < moment);
  const kept = turns.filter((turn) => turn.timestamp >= moment && source.integer(3) > 0);
  const future: Turn[] = [];
  for (const turn of kept) future.push(changeTurn(source, turn, [...past, ...future]));
  let timestamp = moment;
  for (let number = source.integer(41); number >= 0; number--) {
    future.sort((a, b) => a.timestamp - b.timestamp);
    const before = [...past, ...future.filter((turn) => turn.timestamp <= timestamp)];
    // Ids before and after all others in byte order; often one conversation outgrows all others.
    future.push(
      drawSampleTurn(source, `${number % 2 === 0 ? 'a' : 'ö'}${number}`, timestamp, 1 + source.integer(9), before),
    );
    timestamp += source.integer(3) * HOUR_MILLISECONDS;
  }
  const asked = queries.map((query): Query => {
    if (query.timestamp <= moment) return query;
    return {
      ...query,
      anchorTurnId: null,
      text: drawSampleText(source),
      timestamp: query.timestamp + HOUR_MILLISECONDS,
    };
  });
  const vectors = new Map(vectorOf);
  for (const { id } of [...future, ...queries.filter((query) => query.timestamp > moment)])
    vectors.set(id, source.integer(7) === 0 ? new Float32Array(DIMENSION) : drawSampleVector(source));
  return { turns: [...past, ...future], queries: asked, vectorOf: vectors };
}

/** These are sums over the past alone in a fixed order; the others are tensor products, whose order of summation may depend on the shape. */
const EXACT = ['bm25', 'words', 'newest'];

function expectSame(after: Map<string, Answer>, before: Map<string, Answer>): void {
  expect([...after.keys()]).toEqual([...before.keys()]);
  for (const [what, answer] of before) {
    const other = after.get(what) as Answer;
    expect([...other.keys()], what).toEqual([...answer.keys()]);
    for (const [id, parts] of answer) {
      for (const [name, value] of Object.entries(parts)) {
        const difference = Math.abs((other.get(id)?.[name] as number) - value);
        const allowed = EXACT.includes(name) ? 0 : 1e-6;
        expect(difference, `${what}, turn ${id}, ${name}: ${value}`).toBeLessThanOrEqual(allowed);
      }
    }
  }
}

test('turns at or after a query have no influence on the ranking of an arm', async () => {
  const before = tf.memory().numTensors;
  const world = drawSampleWorld(7);
  const moments = world.queries.map(({ timestamp }) => timestamp);
  const known = await answerAll(world, Number.POSITIVE_INFINITY);
  expect(known.size).toBe(Object.keys(SAMPLE_ARMS).length * world.queries.length);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...moments), fc.nat(), async (moment, seed) => {
      const then = new Map(
        [...known].filter(([what]) => {
          const query = world.queries.find(({ id }) => what.endsWith(`, ${id}`)) as Query;
          return query.timestamp <= moment;
        }),
      );
      expectSame(await answerAll(withOtherFuture(world, moment, seed), moment), then);
    }),
    { numRuns: 7, seed: 23 },
  );
  expect(tf.memory().numTensors).toBe(before);
});

test('what is said before it has', async () => {
  const world = drawSampleWorld(7);
  const last = world.queries.at(-1) as Query;
  const known = await answerAll(world, last.timestamp);
  const altered = withOtherFuture(world, last.timestamp - 97 * HOUR_MILLISECONDS, 3);
  const queries = [...altered.queries.slice(0, -1), last];
  const vectorOf = new Map([...altered.vectorOf, [last.id, world.vectorOf.get(last.id) as Float32Array]]);
  const other = await answerAll(
    { turns: altered.turns, queries: queries.map((query) => ({ ...query, anchorTurnId: null })), vectorOf },
    last.timestamp,
  );
  const unmoved = Object.keys(SAMPLE_ARMS).filter((arm) => {
    const what = `${arm}, ${last.id}`;
    return JSON.stringify([...(known.get(what) as Answer)]) === JSON.stringify([...(other.get(what) as Answer)]);
  });
  expect(unmoved).toEqual([]);
});
