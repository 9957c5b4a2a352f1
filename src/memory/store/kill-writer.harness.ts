import type { MemoryRecord } from '../../model/turns/turn.ts';
import { updateOutcomeStatistics } from '../outcomes/outcome-statistics.ts';
import type { MemoryStore } from './memory-store.ts';
import { openStore } from './open-store.ts';
import { createSampleRecord } from './records.fixture.ts';
import { writeUntilKilled } from './write-until-killed.harness.ts';

const STEPS = 5;
const DIMENSION = 13;

const outcomeOf = (step: number) => (step % 101) / 101;

/** Operation `step` of a writer: three records are added, two of them observed, one replaced, and those of the round before removed but one. */
async function runStep(store: MemoryStore, writer: number, step: number): Promise<void> {
  const round = Math.floor(step / STEPS);
  const name = (of: number, i: number) => `w${writer}-${of}-${i}`;
  const create = (i: number, version: number) => createSampleRecord(name(round, i), DIMENSION, version);
  if (step % STEPS === 0) await store.put([create(0, 0), create(1, 1), create(2, 2)]);
  else if (step % STEPS === 1) await store.observe(name(round, 0), outcomeOf(step));
  else if (step % STEPS === 2) await store.observe(name(round, 0), outcomeOf(step));
  else if (step % STEPS === 3) await store.put([create(1, step)], { replace: true });
  else await store.remove(round === 0 ? [name(round, 2)] : [name(round, 2), name(round - 1, 0), name(round - 1, 1)]);
}

/** The records of a writer after its first `steps` operations, computed without a store. */
export function listExpected(writer: number, steps: number): MemoryRecord[] {
  const round = Math.floor(steps / STEPS);
  const expected: MemoryRecord[] = [];
  for (const of of [round - 1, round].filter((found) => found >= 0)) {
    const done = of < round ? STEPS : steps % STEPS;
    const id = (i: number) => `w${writer}-${of}-${i}`;
    if (done === 0) continue;
    const observed = [1, 2].filter((step) => step < done).map((step) => outcomeOf(of * STEPS + step));
    const first = createSampleRecord(id(0), DIMENSION, 0);
    expected.push({ ...first, stats: observed.reduce(updateOutcomeStatistics, first.stats) });
    expected.push(createSampleRecord(id(1), DIMENSION, done > 3 ? of * STEPS + 3 : 1));
    if (done < STEPS) expected.push(createSampleRecord(id(2), DIMENSION, 2));
  }
  return expected;
}

await writeUntilKilled((folder) => openStore(folder, { segmentBytes: 20_000 }), runStep);
