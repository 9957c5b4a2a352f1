import type { RecordTrajectory } from '../../model/turns/turn.ts';
import { divideOrZero, scaleComplexity } from './coordinates.ts';
import { type FrameTables, ROW, ROW_WIDTH } from './frame-tables.ts';

/**
 * Coordinates of a turn when it was the newest of its conversation: those that `computeTrajectoryCoordinates` gives for
 * the turns up to it. No later turn changes them. O(1).
 *
 * @param turn its ring position.
 */
export function readNewestCoordinates(tables: FrameTables, turn: number): RecordTrajectory {
  const read = (field: keyof typeof ROW) => tables.rows[turn * ROW_WIDTH + ROW[field]] as number;
  const age = read('timestamp') - read('start');
  return {
    depth: divideOrZero(read('depth'), read('deepest')),
    siblingOrder: divideOrZero(read('siblingIndex'), read('siblingIndex')), // the last of its siblings
    homogeneity: read('homogeneity'),
    temporal: divideOrZero(age, age),
    complexity: scaleComplexity(read('components'), read('mostComponents'), 'log'),
  };
}
