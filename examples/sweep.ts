// Sweep: every combination of two options, as arms of one table.
import { experiment } from 'rag-plusplus';

const finished = await experiment({
  data: { name: 'jsonl', path: 'examples/data' },
  arms: [{ name: 'words', candidates: [{ index: 'bm25' }], relevance: { signals: ['bm25'] }, decay: {} }],
  sweep: { method: 'grid', arm: 'words', factors: { 'decay.halfLifeHours': [6, 24, 96] } },
  metrics: ['mrr@10', 'recall@5'],
}).run();
console.log(finished.table());
