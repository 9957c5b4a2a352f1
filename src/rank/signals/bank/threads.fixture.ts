import { createRandom, type Random } from '../../../core/numbers/random.ts';
import { createEncoder } from '../../../index/encoders/registry.ts';
import { openWordTokens } from '../../../index/encoders/word-tokens.fixture.ts';
import type { Query } from '../../../model/dataset.ts';
import { Corpus } from '../../../model/turns/corpus.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { DIMENSION, drawSampleVector, HOUR_MILLISECONDS, type SampleWorld } from '../corpus.fixture.ts';
import { Workspace } from '../workspace.ts';

const START = Date.UTC(2024, 0, 1);
/** None of them is a stop word, and each is its own stem. */
const WORDS = 'bread soup train salt corn milk fish lamp wolf drum'.split(' ');
const AUTHORS = ['ann', 'bo', 'cy', 'dora', 'eli'];
const CHANNELS = ['list', 'chat', null];
const CONVERSATIONS = 3;

const drawOne = <T>(source: Random, values: readonly T[]): T => values[source.integer(values.length)] as T;

/** 1 to 8 words, now and then a name, a number, a date or a question mark at the end. */
function drawSampleWords(source: Random, names: readonly string[]): string {
  const words = Array.from({ length: 1 + source.integer(8) }, () => drawOne(source, WORDS));
  const extras = [drawOne(source, names), `${source.integer(50)}`, 'in January 2024', 'with Mary'];
  for (const extra of extras) if (source.uniform() < 0.25) words.push(extra);
  return `${words.join(' ')}${source.uniform() < 0.3 ? '?' : ''}`;
}

/** Speakers come one after the other, so that there is always somebody who is yet to speak. */
function drawThreadTurns(source: Random, count: number): Turn[] {
  const turns: Turn[] = [];
  let timestamp = START;
  for (let number = 0; number < count; number++) {
    timestamp += source.integer(3) * HOUR_MILLISECONDS;
    const conversationId = `c${source.integer(CONVERSATIONS)}`;
    const parents = turns.filter((turn) => turn.conversationId === conversationId);
    const known = AUTHORS.slice(0, 1 + Math.floor((AUTHORS.length * number) / count));
    turns.push({
      id: `t${String((number * 29) % count).padStart(3, '0')}`,
      conversationId,
      parentId: parents.length === 0 || source.uniform() < 0.2 ? null : drawOne(source, parents).id,
      timestamp,
      author: source.uniform() < 0.1 ? null : drawOne(source, known),
      channel: drawOne(source, CHANNELS),
      text: drawSampleWords(source, AUTHORS),
      attributes: { useCount: number % 5, memoryType: number % 7 === 0 ? 'summary' : 'episodic' },
    });
  }
  return turns;
}

/**
 * Threads with sessions, authors and channels; half of the queries ask one conversation alone, and some name authors who are yet to speak.
 *
 * @param turnCount no multiple of 29
 */
export function drawSampleThreads(seed: number, turnCount = 47, queryCount = 11): SampleWorld {
  const source = createRandom(seed, 'sample-threads');
  const turns = drawThreadTurns(source, turnCount);
  const queries = Array.from({ length: queryCount }, (_, number): Query => {
    const around = turns[Math.floor(turns.length * (0.3 + 0.6 * source.uniform()))] as Turn;
    return {
      id: `q${number}`,
      text: `${['When', 'Who', 'How many', ''][number % 4]} ${drawSampleWords(source, AUTHORS)} ${['', drawOne(source, AUTHORS)][number % 2]}`,
      timestamp: around.timestamp + source.integer(2),
      anchorTurnId: null,
      author: drawOne(source, [...AUTHORS, null]),
      channel: drawOne(source, CHANNELS),
      split: 'dev',
      cluster: around.conversationId,
      ...(number % 2 === 0 ? {} : { conversationId: around.conversationId }),
    };
  });
  queries.sort((a, b) => a.timestamp - b.timestamp);
  const vectorOf = new Map([...turns, ...queries].map(({ id }) => [id, drawSampleVector(source)]));
  return { turns, queries, vectorOf };
}

/** With a way to embed by an encoder that is fitted on the same texts whatever the world. The caller disposes it. */
export function createThreadsWorkspace({ turns, queries, vectorOf }: SampleWorld): Workspace {
  const corpus = new Corpus(turns);
  const concatThreadVectors = (ids: readonly { readonly id: string }[]) =>
    Float32Array.from(ids.flatMap(({ id }) => [...(vectorOf.get(id) as Float32Array)]));
  const source = createRandom(3, 'fit');
  const fitTexts = Array.from({ length: 31 }, () => drawSampleWords(source, AUTHORS));
  return new Workspace({
    openTokens: openWordTokens,
    corpus,
    queries,
    turnVectors: concatThreadVectors(corpus.turns),
    queryVectors: concatThreadVectors(queries),
    dimension: DIMENSION,
    seed: 5,
    encode: async (options) => {
      const encoder = await createEncoder(options, { fitTexts, seed: 7 });
      const { dimension } = encoder;
      const turnVectors = await encoder.encode(corpus.turns.map(({ text }) => text));
      const queryVectors = await encoder.encode(queries.map(({ text }) => text));
      encoder.dispose();
      return { dimension, turnVectors, queryVectors };
    },
  });
}
