import type { RecordTrajectory } from '../../model/turns/turn.ts';
import { divideOrZero, scaleComplexity } from './coordinates.ts';
import type { FrameTables } from './frame-tables.ts';

/**
 * Coordinates of a turn when it was the newest of its conversation: those that `computeTrajectoryCoordinates` gives for
 * the turns up to it. No later turn changes them. O(1).
 *
 * @param position of the turn in the corpus of the tables.
 */
export function readNewestCoordinates(tables: FrameTables, position: number): RecordTrajectory {
  const { corpus, conversations, depth, deepest, siblingIndex, homogeneity, components, mostComponents } = tables;
  const read = (table: ArrayLike<number>, at = position) => table[at] as number;
  const first = read(conversations[read(corpus.conversationOf)] as Int32Array, 0);
  const age = read(corpus.timestamps) - read(corpus.timestamps, first);
  return {
    depth: divideOrZero(read(depth), read(deepest)),
    siblingOrder: divideOrZero(read(siblingIndex), read(siblingIndex)), // the last of its siblings
    homogeneity: read(homogeneity),
    temporal: divideOrZero(age, age),
    complexity: scaleComplexity(read(components), read(mostComponents), 'log'),
  };
}
