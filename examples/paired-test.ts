// Paired test: two arms on the same queries, resampled by conversation.
import { decay, experiment, search } from 'rag-plusplus';

const finished = await experiment({
  data: { name: 'jsonl', path: 'examples/data' },
  arms: { words: [search({ bm25: {} })], fading: { from: 'words', then: [decay(24)] } },
}).run();
const { difference, p, wins, losses } = finished.compare('fading', 'words', 'mrr@10');
console.log(`${difference.mean.toFixed(3)}, p ${p.toFixed(3)}, ${wins} better, ${losses} worse`);
