import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import { parse } from '../../core/validation/validation.ts';
import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { type PlantedDependency, type SyntheticInput, type SyntheticOptions, synthetic } from '../prepared/datasets.ts';
import { type InventedWords, inventWords } from './invented-words.ts';
import { drawLayout, drawScene, drawSceneTexts, type Layout } from './scene.ts';

/** Expected values of a ranking with the turns on the topic at the top. */
export interface PlantedLevel {
  /** Recall of one relevant turn at 1: the share of queries whose first turn is relevant. */
  readonly first: number;
  /** Mean reciprocal rank. */
  readonly mrr: number;
}

/** The best figures that can be reached on planted conversations. */
export interface PlantedLevels {
  /** Similarity alone: the turns on the topic at the top in any order. */
  readonly chance: PlantedLevel;
  /**
   * An observer who knows the dependency: the indicated turn first, then the others on the topic. No ranking has a
   * higher expected value.
   */
  readonly ceiling: PlantedLevel;
}

/**
 * The expected values on planted conversations with m = `branching` turns on the topic: 1/m and H_m/m by chance, with
 * H_m = 1 + 1/2 + … + 1/m, and s + (1 - s) chance at strength s.
 *
 * @throws ValidationError for a branching that is no positive integer, and for a strength outside [0, 1].
 */
export function computePlantedLevels(branching: number, strength: number): PlantedLevels {
  if (!Number.isInteger(branching) || branching < 1)
    throw new ValidationError(`branching is no positive integer: ${branching}; pass the option of the dataset`, {
      branching,
    });
  if (!(strength >= 0 && strength <= 1))
    throw new ValidationError(`strength is outside [0, 1]: ${strength}; pass a number in [0, 1]`, { strength });
  const harmonic = Array.from({ length: branching }, (_, i) => 1 / (i + 1)).reduce((sum, term) => sum + term, 0);
  const chance = { first: 1 / branching, mrr: harmonic / branching };
  const raise = (level: number) => strength + (1 - strength) * level;
  return { chance, ceiling: { first: raise(chance.first), mrr: raise(chance.mrr) } };
}

const HOUR_MILLISECONDS = 3_600_000;
const LEAST_GAP_MILLISECONDS = 60_000;
const BEGIN = Date.UTC(2024, 0, 1);
/** Between the starts of two conversations, per turn. */
const STAGGER_HOURS = 1.5;

/** A query, the turns that are equally similar to it, and the one of them that the dependency indicates. */
export interface PlantedQuery {
  readonly query: Omit<Query, 'split'>;
  readonly dependency: PlantedDependency;
  /** [branching] ids. */
  readonly matched: readonly string[];
  readonly indicated: string;
  /** The turn that is relevant: `indicated` with probability `strength`, else any of `matched`. */
  readonly relevant: string;
}

/** Invented conversations, in the order of their start. */
export interface PlantedConversations {
  readonly turns: readonly Turn[];
  readonly planted: readonly PlantedQuery[];
}

/** Ids in an order that tells nothing: equal scores are ordered by id. */
export function drawIds(conversationId: string, count: number, stream: Random): string[] {
  const drawn = new Set<string>();
  while (drawn.size < count) drawn.add(`${conversationId}-${stream.integer(0x10000).toString(16).padStart(4, '0')}`);
  return [...drawn];
}

/** A time for each turn and for the query, with gaps of an hour on average. */
function drawTimes(start: number, count: number, stream: Random): number[] {
  let time = start;
  return Array.from({ length: count }, () => {
    time += LEAST_GAP_MILLISECONDS + Math.round(-Math.log(1 - stream.uniform()) * HOUR_MILLISECONDS);
    return time;
  });
}

/** The place of the turn that each turn answers: the newest of its branch, or the root; null for the root. */
function listParents({ branches, branching }: Layout): (number | null)[] {
  const newest = new Int32Array(branching);
  const parents = branches.map((branch, i) => {
    const parent = newest[branch] as number;
    newest[branch] = i + 1;
    return parent;
  });
  return [null, ...parents];
}

/** The conversation of a place in the list. The judgement has a stream of its own, so that no text depends on it. */
function drawConversation(index: number, words: InventedWords, options: SyntheticOptions) {
  const { seed, turns: count, branching, dependencies, wordNoise, strength } = options;
  const conversationId = `c${index}`;
  const stream = createRandom(seed, `synthetic conversation ${index}`);
  const layout = drawLayout(count, branching, stream);
  const scene = drawScene(dependencies[index % dependencies.length] as PlantedDependency, layout, stream);
  const texts = drawSceneTexts(scene, count, words, wordNoise, stream);
  const ids = drawIds(conversationId, count, stream);
  const times = drawTimes(BEGIN + index * count * STAGGER_HOURS * HOUR_MILLISECONDS, count + 1, stream);
  const parents = listParents(layout);
  const findId = (at: number) => ids[at] as string;
  const turns = texts.turns.map((text, at): Turn => {
    const parent = parents[at] ?? null;
    const parentId = parent === null ? null : findId(parent);
    return {
      id: findId(at),
      conversationId,
      parentId,
      timestamp: times[at] as number,
      author: null,
      channel: null,
      text,
    };
  });
  const judged = createRandom(seed, `synthetic judgement ${index}`);
  const [follows, other] = [judged.uniform() < strength, judged.integer(scene.matched.length)];
  const planted: PlantedQuery = {
    query: {
      id: `q${index}`,
      text: texts.query,
      timestamp: times[count] as number,
      anchorTurnId: findId(1 + layout.branches.lastIndexOf(scene.askedBranch)),
      author: null,
      channel: null,
      conversationId,
      kind: scene.dependency,
      cluster: conversationId,
    },
    dependency: scene.dependency,
    matched: scene.matched.map(findId),
    indicated: findId(scene.indicated),
    relevant: findId(follows ? scene.indicated : (scene.matched[other] as number)),
  };
  return { turns, planted };
}

/**
 * Draws conversations with one query each. `branching` turns are equally similar to the query; which of them is relevant depends on time, thread, entity or
 * correction. The texts, times and trees are the same for every `strength`, and the first conversations for every number of conversations. O(turns).
 *
 * @throws ConfigurationError for options out of range.
 */
export function drawPlantedConversations(given: SyntheticInput = {}): PlantedConversations {
  const options = parse(synthetic.options, { name: 'synthetic', ...given }, 'the options of planted conversations');
  // Each turn has a name, and so has each turn that links two names, or the query.
  const words = inventWords(options.seed, options.turns + options.branching);
  const turns: Turn[] = [];
  const planted: PlantedQuery[] = [];
  for (let index = 0; index < options.conversations; index++) {
    const conversation = drawConversation(index, words, options);
    turns.push(...conversation.turns);
    planted.push(conversation.planted);
  }
  return { turns, planted };
}
