import type { FactEdge } from '../../index/graph/fact-edge.ts';
import { writeUntilKilled } from '../store/write-until-killed.harness.ts';
import { type FactStore, openFactStore } from './fact-store.ts';

const nameFact = (writer: number, step: number) => `w${writer}-${Math.floor(step / 3)}`;

/** Operation `step` of a writer: a fact is asserted, closed, and its end corrected. The moment is the number of versions that are seen, so it never falls. */
function runStep(store: FactStore, writer: number, step: number): Promise<FactEdge> {
  const id = nameFact(writer, step);
  const fact = { id, source: `source ${writer}`, target: 'all', relation: 'grün', validFrom: step, weight: 0.1 + step };
  const recordedAt = store.size;
  if (step % 3 === 0) return store.assert(fact, recordedAt);
  return store.supersede(id, { validUntil: step + 100, recordedAt });
}

/** A version without the moments of the store, which depend on the other writers. */
export type BareVersion = Omit<FactEdge, 'recordedAt' | 'supersededAt'>;

/** The versions of a writer after its first `steps` operations, computed without a store. */
export function listExpectedVersions(writer: number, steps: number): BareVersion[] {
  return Array.from({ length: steps }, (_, step) => {
    const begin = step - (step % 3);
    const validUntil = step === begin ? null : step + 100;
    const ends = { source: `source ${writer}`, target: 'all', relation: 'grün' };
    return { id: nameFact(writer, step), ...ends, weight: 0.1 + begin, validFrom: begin, validUntil, closedBy: null };
  });
}

await writeUntilKilled((folder) => openFactStore(folder, { segmentBytes: 20_000 }), runStep);
