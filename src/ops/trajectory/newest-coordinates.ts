import type { RecordTrajectory, Turn } from '../../model/turns/turn.ts';
import { divideOrZero, scaleComplexity } from './coordinates.ts';
import type { FrameTables } from './frame-tables.ts';

/**
 * Coordinates of a turn when it was the newest of its conversation: those that `computeTrajectoryCoordinates` gives for
 * the turns up to it. No later turn changes them. O(1).
 *
 * @param turn its ring position.
 */
export function readNewestCoordinates(tables: FrameTables, turn: number): RecordTrajectory {
  const { conversation, depth, deepest, siblingIndex, homogeneity, components, mostComponents } = tables;
  const read = (table: ArrayLike<number>) => table[turn] as number;
  const [first, own] = [conversation.turns[0], conversation.turns[turn]] as [Turn, Turn];
  const age = own.timestamp - first.timestamp;
  return {
    depth: divideOrZero(read(depth), read(deepest)),
    siblingOrder: divideOrZero(read(siblingIndex), read(siblingIndex)), // the last of its siblings
    homogeneity: read(homogeneity),
    temporal: divideOrZero(age, age),
    complexity: scaleComplexity(read(components), read(mostComponents), 'log'),
  };
}
