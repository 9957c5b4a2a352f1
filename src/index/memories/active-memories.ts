import { isActive } from '../../model/turns/memory-fields.ts';
import type { Turn } from '../../model/turns/turn.ts';

/** The positions of the turns that hold and that a test accepts, ascending. */
export function listActive(turns: readonly Turn[], accepts: (turn: Turn) => boolean = () => true): Int32Array {
  const positions: number[] = [];
  for (const [position, turn] of turns.entries()) if (isActive(turn) && accepts(turn)) positions.push(position);
  return Int32Array.from(positions);
}
