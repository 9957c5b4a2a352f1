import { EMPTY_OUTCOME_STATISTICS, type MemoryRecord } from '../../model/turns/turn.ts';

/** Numbers in [-1, 1) that follow from a text. */
export function drawVector(seed: string, dimension: number): Float32Array {
  let state = [...seed].reduce((sum, character) => (Math.imul(sum, 31) + (character.codePointAt(0) as number)) | 0, 17);
  return Float32Array.from({ length: dimension }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return state / 2 ** 31;
  });
}

/** A record whose fields follow from its id and a version. */
export function createSampleRecord(id: string, dimension = 7, version = 0): MemoryRecord {
  return {
    id,
    embedding: drawVector(`${id}/${version}`, dimension),
    context: `context of ${id}\nas of ${version}: grün, \u2028 and "quotes"`,
    outcome: version % 3 === 0 ? null : version / 7,
    metadata: { phase: 'plan', entities: ['a', id], importance: 0.1 + 0.2, sensitive: version % 2 === 1 },
    createdAt: 1_700_000_000_000 + version,
    stats: EMPTY_OUTCOME_STATISTICS,
    trajectory:
      version % 2 === 0 ? null : { depth: 1, siblingOrder: 0, homogeneity: 0.5, temporal: 0.25, complexity: 2 },
    conversationId: id,
    parentId: null,
    author: null,
    channel: 'mail',
  };
}

export const createSampleRecords = (count: number, dimension = 7) =>
  Array.from({ length: count }, (_, i) => createSampleRecord(`r${i}`, dimension, i));
