// Index: the best turns for a text, among those that existed at a moment.
import { loadDataset } from 'rag-plusplus/data';
import { createIndex } from 'rag-plusplus/index';

const { corpus, queries } = await loadDataset({ name: 'jsonl', path: 'examples/data' });
const index = await createIndex({ index: 'bm25' }, { corpus });
const asked = queries.slice(-1);
const cutoffs = Int32Array.from(asked, ({ timestamp }) => corpus.countEarlierTurns(timestamp));
const batch = { texts: asked.map(({ text }) => text), vectors: new Float32Array(0), cutoffs };
const { positions, scores } = await index.search(batch, 3);
for (const [rank, at] of positions.entries()) console.log(scores[rank]?.toFixed(2), corpus.turns[at]?.text);
