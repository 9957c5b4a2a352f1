import { createRandom } from '../../core/random.ts';
import type { MemoryRecordInput } from '../../model/memory-record-schema.ts';

/** Records with unit vectors of 8 numbers, an outcome for two of three, and a channel; by seed. */
export function drawRecords(count: number, seed = 1): (MemoryRecordInput & { readonly outcome: number | null })[] {
  return Array.from({ length: count }, (_, i) => {
    const source = createRandom(seed, `record ${i}`);
    const raw = Array.from({ length: 8 }, () => source.drawNormal());
    const length = Math.hypot(...raw);
    return {
      id: `r${i}`,
      embedding: Float32Array.from(raw, (value) => value / length),
      context: `record ${i}`,
      outcome: i % 3 === 0 ? null : (i % 5) / 4,
      createdAt: 1_700_000_000_000 + i * 86_400_000,
      channel: i % 2 === 0 ? 'even' : 'odd',
      metadata: { number: i },
    };
  });
}
