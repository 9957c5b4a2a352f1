import { createRandom } from '../../core/numbers/random.ts';
import type { MemoryRecordInput } from '../../model/turns/turn.ts';
import type { Memory } from './memory.ts';
import type { MemoryInput } from './memory-options.ts';
import { openMemory } from './open-memory.ts';

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

/** Sixty records, and a vector to ask with. */
export const RECORDS = drawRecords(60);
export const QUERY = drawRecords(1, 7)[0]?.embedding as Float32Array;
/** An exact index and an approximate one. */
export const INDEXES = {
  exact: { index: 'flat' },
  graph: { index: 'hnsw', preset: 'specification' },
} as const;

/** A memory with the first of {@link RECORDS}, in an exact index. */
export async function openFilled(options: Partial<MemoryInput> = {}, count = RECORDS.length): Promise<Memory> {
  const memory = await openMemory({ dimension: 8, indexes: { exact: INDEXES.exact }, ...options });
  await memory.addBatch(RECORDS.slice(0, count));
  return memory;
}
