import { z } from 'zod';
import { freezeDeeply } from '../../../core/values/once.ts';
import {
  COORDINATES,
  type CoordinateName,
  DEFAULT_WEIGHTS,
  type Dimensions,
} from '../../../ops/trajectory/coordinate-names.ts';

/**
 * The null controls by name. Each destroys one part of the structure that an arm looks at and leaves the rest as it is:
 * texts, times, relevance and decay always. An arm that ranks as well under a control owes nothing to what the control
 * destroyed. No control knows more than the arm: everything is drawn as of the query's moment, except strategies, which
 * are exchanged among all queries. The last one, `placebo`, destroys the relation of what is shown to the query.
 */
export const CONTROL_KINDS = freezeDeeply([
  'permuted-order',
  'shuffled-coordinates',
  'random-parents',
  'rewired-graph',
  'random-graph',
  'shuffled-titles',
  'random-slices',
  'newest-slices',
  'shuffled-strategies',
  'placebo',
] as const);
/** The name of a null control, one of {@link CONTROL_KINDS}. */
export type ControlKind = (typeof CONTROL_KINDS)[number];

/**
 * The schema of a null control: which part of the structure it destroys, and the seed of its draws (by default that of
 * the experiment).
 */
export const controlOptions = z.strictObject({
  kind: z.enum(CONTROL_KINDS),
  /** The experiment's where it is null. */
  seed: z.number().int().nullable().default(null),
});
/** A checked null control: its kind and its seed; a seed of null uses that of the experiment. */
export type ControlOptions = z.output<typeof controlOptions>;

/**
 * The parts of the world that a signal may read: texts, vectors, vectors of tokens, times as far as they order turns
 * and queries, the clock (hours and dates, which data with only an order of turns does not have), what belongs
 * together as the corpus has it (`replies`: reply links, conversations, sessions, channels; no control destroys it),
 * the order of turns on their ring, the trees and the numbers of answers that coordinates are computed from, which
 * coordinates belong to which candidate, the attributes of turns, which no control destroys, for walks on the
 * concept graph which turn has which title and which edges there are, which turns the slice of a query has, and
 * which strategy each question asks for.
 */
export const WORLD_PARTS = freezeDeeply([
  'texts',
  'vectors',
  'tokens',
  'times',
  'clock',
  'replies',
  'order',
  'trees',
  'answer-counts',
  'coordinates',
  'attributes',
  'titles',
  'concept-edges',
  'slices',
  'strategies',
] as const);
/** The name of a part of the world that a signal reads, one of {@link WORLD_PARTS}; null controls destroy some of them. */
export type WorldPart = (typeof WORLD_PARTS)[number];

/** The parts that each null control destroys. */
const DESTROYED: Readonly<Record<ControlKind, readonly WorldPart[]>> = {
  'permuted-order': ['order'],
  'shuffled-coordinates': ['coordinates'],
  'random-parents': ['trees', 'answer-counts'],
  'rewired-graph': ['trees'],
  'random-graph': ['concept-edges'],
  'shuffled-titles': ['titles'],
  'random-slices': ['slices'],
  'newest-slices': ['slices'],
  'shuffled-strategies': ['strategies'],
  // The arm ranks in the world as it is; other turns are shown in the place of its own.
  placebo: [],
};

/** True if a control changes anything that is read. */
export function disturbs(kind: ControlKind, reads: readonly WorldPart[]): boolean {
  return DESTROYED[kind].some((part) => reads.includes(part));
}

/** The part of the world that each coordinate is computed from, besides times, texts and vectors. */
const COORDINATE_PARTS: Readonly<Partial<Record<CoordinateName, WorldPart>>> = {
  depth: 'trees',
  siblingOrder: 'trees',
  homogeneity: 'trees',
  temporal: 'clock',
  branchFactor: 'trees',
  childrenCount: 'answer-counts',
};

/** Everything that the coordinates of pairs are computed from. */
export const COORDINATE_SOURCES: readonly WorldPart[] = [
  'texts',
  'vectors',
  'times',
  'clock',
  'trees',
  'answer-counts',
];

/** What some coordinates read. */
export function listCoordinateReads(names: readonly CoordinateName[]): readonly WorldPart[] {
  if (names.length === 0) return [];
  const parts = names.flatMap((name) => COORDINATE_PARTS[name] ?? []);
  return [...new Set<WorldPart>(['texts', 'vectors', 'times', 'coordinates', ...parts])];
}

/** What a trajectory distance reads: the coordinates that have a weight. */
export function listDistanceReads({
  dimensions,
  weights,
}: {
  readonly dimensions: Dimensions;
  readonly weights: Readonly<Partial<Record<CoordinateName, number | undefined>>>;
}): readonly WorldPart[] {
  return listCoordinateReads(COORDINATES[dimensions].filter((name) => (weights[name] ?? DEFAULT_WEIGHTS[name]) > 0));
}
