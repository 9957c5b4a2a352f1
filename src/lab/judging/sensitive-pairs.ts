import { type DividedItems, withholdSensitive } from '../../core/service/sendable-text.ts';
import type { PairToJudge } from '../../model/judgement.ts';

/** Divides pairs by their mark `sensitive`. A person on this machine judges those that are withheld. */
export function withholdSensitivePairs(pairs: readonly PairToJudge[]): DividedItems<PairToJudge> {
  return withholdSensitive(pairs, ({ sensitive }) => sensitive);
}
