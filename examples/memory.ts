// Memory: records with outcomes, and the prior over the outcomes of those that are near a query.
import { openMemory } from 'rag-plusplus/memory';

const memory = await openMemory({ dimension: 2 });
const embed = (angle: number) => Float32Array.of(Math.cos(angle), Math.sin(angle));
const add = (id: string, angle: number, outcome: number) =>
  memory.add({ id, embedding: embed(angle), context: `attempt ${id}`, outcome, createdAt: Date.UTC(2026, 0, 1) });
await Promise.all([add('a', 0, 1), add('b', 0.2, 1), add('c', 0.5, 1), add('d', 1.4, 0), add('e', 1.5, 0)]);
const { prior, candidates } = await memory.query({ embedding: embed(0.15), k: 4 });
console.log(candidates.map(({ recordId, score }) => `${recordId} ${score.toFixed(2)}`).join(', '));
console.log(`mean ${prior.mean}, interval ${prior.interval?.map((end) => end.toFixed(2))}, of ${prior.count}`);
await memory.close();
