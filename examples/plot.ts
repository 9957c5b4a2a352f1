// Plot: the differences from the baseline as Plotly JSON, for a notebook or a page of your own.
import { decay, experiment, search } from 'rag-plusplus';

const finished = await experiment({
  data: { name: 'jsonl', path: 'examples/data' },
  arms: { words: [search({ bm25: {} })], fading: { from: 'words', then: [decay(24)] } },
}).run();
const { data, layout } = finished.figure('differences', { metric: 'ndcg@10' });
console.log(JSON.stringify({ data, layout }));
