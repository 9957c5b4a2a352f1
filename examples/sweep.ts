// Sweep: every combination of two options, as arms of one table.
import { decay, experiment, search } from 'rag-plusplus';

const finished = await experiment({
  data: { name: 'jsonl', path: 'examples/data' },
  arms: { words: [search({ bm25: {} }), decay({ halfLifeHours: 24 })] },
  sweep: { method: 'grid', arm: 'words', factors: { 'decay.halfLifeHours': [6, 24, 96] } },
  metrics: ['mrr@10', 'recall@5'],
}).run();
console.log(finished.table());
