import { attachDisplay, buildTableBundle, phrase, stateShown } from '../../core/display/display.ts';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { COORDINATES, type ComplexityScale, type CoordinateName, type Dimensions } from './coordinate-names.ts';
import { computeHomogeneities, computeSquaredLengths } from './homogeneity.ts';

/** The part of coordinates that is shown. */
interface Located {
  readonly turnIds: readonly string[];
  readonly names: readonly string[];
  /** Row-major [T, names.length]. */
  readonly values: Float64Array;
}

/** Lets a notebook show coordinates as a table with a row for each turn. @returns the same object. */
function displayCoordinates<T extends Located>(coordinates: T): T {
  return attachDisplay(coordinates, ({ turnIds, names, values }) => {
    const rows = turnIds.map((turn, row) => ({
      turn: stateShown(turn),
      ...Object.fromEntries(names.map((name, column) => [name, values[row * names.length + column]])),
    }));
    return buildTableBundle(rows, { caption: phrase`trajectory coordinates of ${turnIds.length} turns` });
  });
}

/** The features of a turn for its coordinates, besides its place in the tree. */
export interface TurnFeatures {
  /** [D] of any length but zero; a zero vector has cosine 0 to everything. */
  readonly embedding: ArrayLike<number>;
  /** Number of semantic components, at least 1. */
  readonly components: number;
}

/** Which coordinates to compute, how complexity is scaled, and the time in milliseconds as of which a conversation is seen. */
export interface CoordinateOptions {
  readonly dimensions: Dimensions;
  readonly complexityScale?: ComplexityScale;
  /** Milliseconds since 1970-01-01 UTC. Keeps only turns with `timestamp <= asOf` before anything is normalised, so that no coordinate knows the future. */
  readonly asOf?: number;
}

/** Coordinates of the turns of a conversation: `values` is row-major [turns, names]. */
export interface TrajectoryCoordinates {
  /** [T] in time order. */
  readonly turnIds: readonly string[];
  readonly names: readonly CoordinateName[];
  /** Row-major [T, names.length], float64. */
  readonly values: Float64Array;
}

/** a / b, and 0 where b is 0. */
export function divideOrZero(a: number, b: number): number {
  return b === 0 ? 0 : a / b;
}

/** @throws ValidationError when the count is below 1 or not finite. */
export function assertComponents(components: number, turnId: string): void {
  if (!(components >= 1 && Number.isFinite(components)))
    throw new ValidationError(`turn ${turnId} has ${components} semantic components; pass at least 1`, {
      turnId,
      components,
    });
}

/** `raw`: c; `log`: ln c / ln(max c), 0 when max c is 1. */
export function scaleComplexity(components: number, most: number, scale: ComplexityScale): number {
  return scale === 'raw' ? components : divideOrZero(Math.log(components), Math.log(most));
}

interface Figures {
  readonly turn: Turn;
  readonly components: number;
  readonly homogeneity: number;
  readonly depth: number;
  readonly siblingIndex: number;
  readonly siblings: number;
  readonly children: number;
}

function getTurnFeatures(turn: Turn, features: ReadonlyMap<string, TurnFeatures>): TurnFeatures {
  const found = features.get(turn.id);
  if (found === undefined)
    throw new ValidationError(`turn has no features: ${turn.id}; pass features of every turn`, { turnId: turn.id });
  assertComponents(found.components, turn.id);
  return found;
}

/** [T] of all turns in one batch. */
function computeTurnHomogeneity(turns: readonly Turn[], features: readonly TurnFeatures[]): Float64Array {
  const dimension = features[0]?.embedding.length ?? 0;
  const vectors = new Float64Array(turns.length * dimension);
  for (const [row, { embedding }] of features.entries()) {
    if (embedding.length !== dimension)
      throw new DimensionMismatchError(`embedding of turn ${turns[row]?.id}`, dimension, embedding.length);
    vectors.set(embedding, row * dimension);
  }
  const rowOf = new Map(turns.map(({ id }, row) => [id, row]));
  const parents = Int32Array.from(turns, ({ id, parentId }) => {
    const row = parentId === null ? -1 : rowOf.get(parentId);
    if (row === undefined)
      throw new ValidationError(`turn is before its parent ${parentId}: ${id}; correct its time or its parentId`, {
        turnId: id,
      });
    return row;
  });
  return computeHomogeneities(vectors, computeSquaredLengths(vectors, dimension, turns.length), dimension, parents);
}

/** Unnormalised values of the turns not later than `asOf`. A child is never before its parent, so these turns are a forest too. */
function computeTurnFigures(
  conversation: Conversation,
  features: ReadonlyMap<string, TurnFeatures>,
  asOf: number,
): readonly Figures[] {
  const turns = conversation.turns.filter((turn) => turn.timestamp <= asOf);
  const children = new Map<string | null, number>();
  // Turns come in time order, ids by bytes at equal times, so a turn's index is the number of its siblings met before.
  const siblingIndex = turns.map(({ parentId }) => {
    const index = children.get(parentId) ?? 0;
    children.set(parentId, index + 1);
    return index;
  });
  const found = turns.map((turn) => getTurnFeatures(turn, features));
  const homogeneity = computeTurnHomogeneity(turns, found);
  return turns.map((turn, i) => ({
    turn,
    components: (found[i] as TurnFeatures).components,
    homogeneity: homogeneity[i] as number,
    depth: conversation.getDepth(turn.id),
    siblingIndex: siblingIndex[i] as number,
    siblings: children.get(turn.parentId) as number,
    children: children.get(turn.id) ?? 0,
  }));
}

/**
 * Trajectory coordinates of all turns of a conversation, in float64 on the host. O(T D).
 *
 * depth / greatest depth; index among siblings / max(siblings - 1, 1); cosine to the parent clipped to [0, 1], 1 for a root; (time - first) / (last -
 * first); complexity by its scale; sibling group / largest group; children / most children. A quotient by 0 is 0. Definition 4.1 of diomande2026ragpp.
 *
 * @throws ValidationError for a turn without features, with fewer than 1 component or before its parent, DimensionMismatchError for embeddings of several sizes.
 */
export function computeTrajectoryCoordinates(
  conversation: Conversation,
  features: ReadonlyMap<string, TurnFeatures>,
  options: CoordinateOptions,
): TrajectoryCoordinates {
  const names = COORDINATES[options.dimensions];
  const scale = options.complexityScale ?? 'log';
  const figures = computeTurnFigures(conversation, features, options.asOf ?? Number.POSITIVE_INFINITY);
  const findGreatestFigure = (value: (figure: Figures) => number) =>
    figures.reduce((max, figure) => Math.max(max, value(figure)), 0);
  const deepest = findGreatestFigure((figure) => figure.depth);
  const mostComponents = findGreatestFigure((figure) => figure.components);
  const largestGroup = findGreatestFigure((figure) => figure.siblings);
  const mostChildren = findGreatestFigure((figure) => figure.children);
  const first = figures[0]?.turn.timestamp ?? 0;
  const span = (figures.at(-1)?.turn.timestamp ?? 0) - first;
  const value: Readonly<Record<CoordinateName, (figure: Figures) => number>> = {
    depth: ({ depth }) => divideOrZero(depth, deepest),
    siblingOrder: ({ siblingIndex, siblings }) => siblingIndex / Math.max(siblings - 1, 1),
    homogeneity: ({ homogeneity }) => homogeneity,
    temporal: ({ turn }) => divideOrZero(turn.timestamp - first, span),
    complexity: ({ components }) => scaleComplexity(components, mostComponents, scale),
    branchFactor: ({ siblings }) => siblings / largestGroup,
    childrenCount: ({ children }) => divideOrZero(children, mostChildren),
  };
  return displayCoordinates({
    turnIds: figures.map(({ turn }) => turn.id),
    names,
    values: Float64Array.from(figures.flatMap((figure) => names.map((name) => value[name](figure)))),
  });
}
