import { createRandom } from '../../core/numbers/random.ts';
import type { Memory } from './memory.ts';

/** D of the records. */
export const DIMENSION = 5;
/** Few, so that records are replaced and removed, and added again. */
const IDS = Array.from({ length: 11 }, (_, i) => `m${i}`);

/** A change that is one entry of the journal. */
export interface Step {
  readonly kind: 'put' | 'remove' | 'observe';
  readonly id: string;
  /** Differs between steps: the content of what is put. */
  readonly content: string;
}

/** By id: what was put last, and how often it was observed. */
export type Held = ReadonlyMap<string, { readonly content: string; readonly observed: number }>;

/** The vector of a content. */
export function drawVector(content: string): Float32Array {
  const source = createRandom(1, content);
  return Float32Array.from({ length: DIMENSION }, () => source.drawNormal());
}

/** The records after a step. */
export function applyStep(held: Held, { kind, id, content }: Step): Held {
  if (kind === 'put') return new Map([...held, [id, { content, observed: 0 }]]);
  if (kind === 'remove') return new Map([...held].filter(([known]) => known !== id));
  const known = held.get(id) as { readonly content: string; readonly observed: number };
  return new Map([...held, [id, { ...known, observed: known.observed + 1 }]]);
}

/** Steps that follow each other from what is held. */
export function drawSteps(held: Held, count: number, seed: number): Step[] {
  const source = createRandom(seed, 'steps');
  let after = held;
  return Array.from({ length: count }, (_, i) => {
    const id = IDS[Math.floor(source.uniform() * IDS.length)] as string;
    const chance = source.uniform();
    const other = chance < 0.15 ? 'remove' : chance < 0.25 ? 'observe' : 'put';
    const step = { kind: after.has(id) ? other : 'put', id, content: `${seed}/${i}` } as const;
    after = applyStep(after, step);
    return step;
  });
}

/** Does a step. */
export function runStep(memory: Memory, { kind, id, content }: Step): Promise<unknown> {
  if (kind === 'remove') return memory.remove(id);
  if (kind === 'observe') return memory.updateStats(id, 1);
  return memory.upsert([{ id, embedding: drawVector(content), context: content, createdAt: 1, outcome: 1 }]);
}

/** The records of a memory. */
export function listHeld(memory: Memory): Held {
  const records = Array.from(memory.records(), ({ id, context, stats }) => [id, context, stats.count] as const);
  return new Map(records.map(([id, content, observed]) => [id, { content, observed }]));
}
