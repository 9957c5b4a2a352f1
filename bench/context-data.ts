import { createRandom, type Random } from '../src/core/random.ts';
import type { EntityEntry } from '../src/query/entity-registry.ts';
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

/** A memory with what the five signals read. */
export interface BenchMemory {
  readonly id: string;
  readonly text: string;
  readonly timestamp: number;
  readonly memoryType: 'episodic' | 'semantic' | 'procedural' | 'summary';
  readonly entities: readonly string[];
  readonly importance: number;
  readonly useCount: number;
  readonly session: string;
}

export interface ContextData {
  /** [N] in the order of time. */
  readonly memories: readonly BenchMemory[];
  /** [N, D] unit vectors. */
  readonly vectors: Float32Array;
  readonly entities: readonly EntityEntry[];
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

function drawType(random: Random): BenchMemory['memoryType'] {
  const share = random.uniform();
  if (share < 0.7) return 'episodic';
  return share < 0.85 ? 'semantic' : share < 0.95 ? 'procedural' : 'summary';
}

/** 70 % events, 15 % facts, 10 % procedures, 5 % summaries over two years, each with one or two of 2,000 entities. */
export function drawContextData({ size, dimension, questions, seed }: ContextSettings): ContextData {
  const drawn = drawMemoryData({ size, dimension, queries: questions, seed, data: 'manifold' });
  const random = createRandom(seed, 'context');
  const entities = Array.from({ length: ENTITIES }, (_, i) => ({
    id: `entity:${i}`,
    name: `${capitalise(spell(i + WORDS))} ${capitalise(spell((i * 7) % WORDS))}`,
  }));
  const drawEntity = () => entities[random.integer(ENTITIES)] as (typeof entities)[number];
  const memories = Array.from({ length: size }, (_, i): BenchMemory => {
    const named = Array.from({ length: 1 + random.integer(2) }, drawEntity);
    const words = Array.from({ length: TEXT_WORDS }, () => drawWord(random));
    return {
      ...{ id: `memory-${String(i).padStart(7, '0')}`, text: `${named[0]?.name} ${words.join(' ')}` },
      timestamp: NOW - YEARS_MILLISECONDS + Math.floor((i / size) * YEARS_MILLISECONDS),
      ...{ memoryType: drawType(random), entities: named.map(({ id }) => id) },
      ...{ importance: random.uniform(), useCount: random.integer(20), session: `s${Math.floor(i / 50)}` },
    };
  });
  const texts = Array.from({ length: questions }, (_, i) =>
    (TEMPLATES[i % TEMPLATES.length] as (typeof TEMPLATES)[0])(drawEntity().name, drawWord(random), drawWord(random)),
  );
  return { memories, vectors: drawn.vectors, entities, questions: texts, questionVectors: drawn.queries, now: NOW };
}
