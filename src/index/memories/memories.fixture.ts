import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';

export const DAY = 24 * 3_600_000;
const triple = { predicate: 'prefers', object: 'NET30' };

/** Memories of a shop, one a day, by id; each with the angle of its vector in quarters of a right angle. */
const MEMORIES: readonly (readonly [id: string, angle: number, attributes: Turn['attributes']])[] = [
  ['visit', 0, { memoryType: 'episodic', entities: ['acme', 'kai'] }],
  ['old-fact', 0, { memoryType: 'semantic', subject: 'Acme', ...triple, status: 'superseded', entities: ['acme'] }],
  ['fact', 1, { memoryType: 'semantic', subject: 'Acme', ...triple, entities: ['acme'], importance: 0.9 }],
  ['rush', 1, { memoryType: 'procedural', trigger: 'a rush order', action: 'call the depot' }],
  ['returns', 3, { memoryType: 'procedural', trigger: 'a return', action: 'print a label' }],
  ['session', 2, { memoryType: 'summary', scope: 'session' }],
  ['global', 2, { memoryType: 'summary', scope: 'global', userId: 'u1' }],
  ['call', 3, { memoryType: 'episodic', entities: ['acme'] }],
  ['both', 4, { memoryType: 'summary' }],
  ['moved', 0, { memoryType: 'episodic', status: 'superseded', entities: ['acme'] }],
];

export const MEMORY_IDS = MEMORIES.map(([id]) => id);

export const memoryCorpus = new Corpus(
  MEMORIES.map(([id, , attributes = {}], day) => ({
    ...{ id, conversationId: 's', parentId: null, author: null, channel: null },
    ...{ timestamp: day * DAY, text: `note ${id}`, attributes },
  })),
);

/** [N, 2] */
export const memoryVectors = Float32Array.from(
  MEMORIES.flatMap(([, angle]) => [Math.cos((angle * Math.PI) / 8), Math.sin((angle * Math.PI) / 8)]),
);
