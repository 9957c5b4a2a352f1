// Rank: what an arm finds for each query, as a TREC run.
import { experiment, search } from 'rag-plusplus';

const data = { name: 'jsonl', path: 'examples/data' } as const;
const finished = await experiment({ data, arms: { words: [search({ bm25: {} })] } }).run();
const [query, ranking] = [...finished.run('words')][0] ?? [];
console.log(query, ranking?.slice(0, 3));
