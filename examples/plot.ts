// Plot: the differences from the baseline as Plotly JSON, for a notebook or a page of your own.
import { experiment } from 'rag-plusplus';

const finished = await experiment({
  data: { name: 'jsonl', path: 'examples/data' },
  base: { candidates: [{ index: 'bm25' }], relevance: { signals: ['bm25'] } },
  arms: [{ name: 'words' }, { name: 'fading', decay: { halfLifeHours: 24 } }],
}).run();
const { data, layout } = finished.figure('differences', { metric: 'ndcg@10' });
console.log(JSON.stringify({ data, layout }));
