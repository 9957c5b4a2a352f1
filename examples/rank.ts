// Rank: what an arm finds for each query, as a TREC run.
import { experiment } from 'rag-plusplus';

const data = { name: 'jsonl', path: 'examples/data' } as const;
const words = { name: 'words', candidates: [{ index: 'bm25' }], relevance: { signals: ['bm25'] } } as const;
const finished = await experiment({ data, arms: [words] }).run();
const [query, ranking] = [...finished.run('words')][0] ?? [];
console.log(query, ranking?.slice(0, 3));
