// Late interaction: each token of a question with those of every turn, which see the two turns before it.
import { experiment, search } from 'rag-plusplus';

const data = { name: 'jsonl', path: 'examples/data' } as const;
const arms = { words: [search({ bm25: {} })], late: [search({ late: {} })] };
const finished = await experiment({ data, encoder: { encoder: 'use-lite' }, arms }).run();
console.log(finished.table());
