import { readMemoryFields } from '../../model/memory-fields.ts';
import type { Turn } from '../../model/turn.ts';

/** Whether a turn may be recalled: facts that are no longer active may not. */
export function isActive(turn: Turn): boolean {
  return (readMemoryFields(turn).status ?? 'active') === 'active';
}

/** The positions of the turns that may be recalled and that a test accepts, ascending. */
export function listActive(turns: readonly Turn[], accepts: (turn: Turn) => boolean = () => true): Int32Array {
  const positions: number[] = [];
  for (const [position, turn] of turns.entries()) if (isActive(turn) && accepts(turn)) positions.push(position);
  return Int32Array.from(positions);
}
