import type { Random } from '../../core/numbers/random.ts';
import { LEAST_ROUNDS, type PlantedDependency } from '../prepared/datasets.ts';

/** The places of a conversation's turns: a root, and branches that grow by one turn each in every round, in an order drawn at random. */
export interface Layout {
  /** [turns - 1] the branch of each turn after the root, in time order. */
  readonly branches: readonly number[];
  readonly branching: number;
  /** Complete rounds. */
  readonly rounds: number;
}

/** Which turns of a conversation are on the topic of its query, by place in time (0 is the root). */
export interface Scene {
  readonly dependency: PlantedDependency;
  /** The branch whose newest turn is the query's anchor. */
  readonly askedBranch: number;
  /** [branching] places of the turns on the topic, in no order that tells anything. */
  readonly matched: readonly number[];
  /** The one of `matched` that the dependency indicates. */
  readonly indicated: number;
}

export function drawLayout(turns: number, branching: number, stream: Random): Layout {
  const branches: number[] = [];
  while (branches.length < turns - 1) branches.push(...stream.shuffle(Array.from({ length: branching }, (_, b) => b)));
  return { branches: branches.slice(0, turns - 1), branching, rounds: Math.floor((turns - 1) / branching) };
}

/** The place of a branch's turn of a round. */
function findPlace({ branches, branching }: Layout, branch: number, round: number): number {
  return 1 + branches.indexOf(branch, round * branching);
}

/** One turn of each branch; the last round is left out, so that no turn on the topic is the anchor. */
function drawOnePerBranch(layout: Layout, stream: Random): number[] {
  return Array.from({ length: layout.branching }, (_, branch) =>
    findPlace(layout, branch, stream.integer(layout.rounds - 1)),
  );
}

/**
 * A statement, its correction (the next turn of the same branch) and mentions in other branches. The rank of the correction in time is drawn from all but the first,
 * so that to be the last tells little.
 */
function drawCorrected(layout: Layout, stream: Random) {
  const { branching, rounds } = layout;
  const [own, ...others] = stream.shuffle(Array.from({ length: branching }, (_, branch) => branch)) as [
    number,
    ...number[],
  ];
  const round = stream.integer(rounds - LEAST_ROUNDS + 1);
  const mentions = branching - 2;
  const earlier = stream.integer(mentions + 1);
  const later = round + 2;
  const places = others
    .slice(0, mentions)
    .map((branch, i) =>
      findPlace(layout, branch, i < earlier ? stream.integer(round + 1) : later + stream.integer(rounds - 1 - later)),
    );
  const indicated = findPlace(layout, own, round + 1);
  return { matched: [findPlace(layout, own, round), indicated, ...places], indicated };
}

/** Draws where the turns on the query's topic are, and which of them the dependency indicates. */
export function drawScene(dependency: PlantedDependency, layout: Layout, stream: Random): Scene {
  const askedBranch = stream.integer(layout.branching);
  if (dependency === 'correction') return { dependency, askedBranch, ...drawCorrected(layout, stream) };
  const matched = drawOnePerBranch(layout, stream);
  const indicated = {
    time: () => Math.max(...matched),
    thread: () => matched[askedBranch] as number,
    entity: () => matched[stream.integer(matched.length)] as number,
  }[dependency]();
  return { dependency, askedBranch, matched, indicated };
}
