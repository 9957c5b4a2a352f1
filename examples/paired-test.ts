// Paired test: two arms on the same queries, resampled by conversation.
import { experiment } from 'rag-plusplus';

const finished = await experiment({
  data: { name: 'jsonl', path: 'examples/data' },
  base: { candidates: [{ index: 'bm25' }], relevance: { signals: ['bm25'] } },
  arms: [{ name: 'words' }, { name: 'fading', decay: { halfLifeHours: 24 } }],
}).run();
const { difference, p, wins, losses } = finished.compare('fading', 'words', 'mrr@10');
console.log(`${difference.mean.toFixed(3)}, p ${p.toFixed(3)}, ${wins} better, ${losses} worse`);
