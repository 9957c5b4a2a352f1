import { createRandom, type Random } from '../src/core/numbers/random.ts';
import type { Turn } from '../src/model/turns/turn.ts';
import { drawMemoryData } from './memory-data.ts';

/** Memories and questions, drawn by a seed. */
export interface ContextSettings {
  /** N memories. */
  readonly size: number;
  /** D of the vectors. */
  readonly dimension: number;
  /** Q different questions. */
  readonly questions: number;
  readonly seed: number;
}

export interface ContextData {
  /** [N] in the order of time. */
  readonly memories: readonly Turn[];
  /** D. */
  readonly dimension: number;
  /** [N, D] unit vectors. */
  readonly vectors: Float32Array;
  readonly questions: readonly string[];
  /** [Q, D] unit vectors of the questions. */
  readonly questionVectors: Float32Array;
  /** The moment of all questions, after the newest memory. */
  readonly now: number;
}

const NOW = Date.UTC(2024, 5, 1);
const YEARS_MILLISECONDS = 2 * 365 * 24 * 3_600_000;
const ENTITIES = 2000;
const WORDS = 5000;
const TEXT_WORDS = 16;
const SYLLABLES = 'ba de fi go lu ma ne pi ro su ta ve ki zo ra le mo ni pu sa'.split(' ');
const TEMPLATES = [
  (name: string, a: string, b: string) => `What did ${name} say about the ${a} and the ${b} last month?`,
  (name: string, a: string, b: string) => `Which ${a} did ${name} order with the ${b} in March 2024?`,
  (_: string, a: string, b: string) => `How do I connect the ${a} to the ${b}?`,
  (name: string, a: string) => `Why was ${name} unhappy with the ${a}?`,
  (name: string) => `Tell me about ${name}`,
];

/** A word that differs for every number below 8,000. */
function spell(number: number): string {
  const base = SYLLABLES.length;
  return [number % base, Math.floor(number / base) % base, Math.floor(number / base ** 2)]
    .map((i) => SYLLABLES[i] as string)
    .join('');
}

const capitalise = (word: string) => word[0]?.toUpperCase() + word.slice(1);

/** The first words occur most: the share of words below u of all is the third root of u. */
const drawWord = (random: Random) => spell(Math.floor(WORDS * random.uniform() ** 3));

function drawType(random: Random): string {
  const share = random.uniform();
  if (share < 0.7) return 'episodic';
  return share < 0.85 ? 'semantic' : share < 0.95 ? 'procedural' : 'summary';
}

/** 70 % events, 15 % facts, 10 % procedures, 5 % summaries over two years, each with one or two of 2,000 entities. */
export function drawContextData({ size, dimension, questions, seed }: ContextSettings): ContextData {
  const drawn = drawMemoryData({ size, dimension, queries: questions, seed, data: 'manifold' });
  const random = createRandom(seed, 'context');
  const names = Array.from(
    { length: ENTITIES },
    (_, i) => `${capitalise(spell(i + WORDS))} ${capitalise(spell((i * 7) % WORDS))}`,
  );
  const drawName = () => names[random.integer(ENTITIES)] as string;
  const memories = Array.from({ length: size }, (_, i): Turn => {
    const named = Array.from({ length: 1 + random.integer(2) }, drawName);
    const words = Array.from({ length: TEXT_WORDS }, () => drawWord(random));
    return {
      ...{ id: `memory-${String(i).padStart(7, '0')}`, text: `${named[0]} ${words.join(' ')}` },
      ...{ conversationId: `s${Math.floor(i / 50)}`, parentId: null, author: null, channel: null },
      timestamp: NOW - YEARS_MILLISECONDS + Math.floor((i / size) * YEARS_MILLISECONDS),
      attributes: {
        ...{ memoryType: drawType(random), entities: named.map((name) => `entity:${name}`) },
        ...{ importance: random.uniform(), useCount: random.integer(20) },
      },
    };
  });
  const texts = Array.from({ length: questions }, (_, i) =>
    (TEMPLATES[i % TEMPLATES.length] as (typeof TEMPLATES)[0])(drawName(), drawWord(random), drawWord(random)),
  );
  return { memories, dimension, vectors: drawn.vectors, questions: texts, questionVectors: drawn.queries, now: NOW };
}
