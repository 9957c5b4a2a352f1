// Load: a folder with turns.jsonl, queries.jsonl and qrels.txt. Run from the project's folder, as all examples.
import { loadDataset } from 'rag-plusplus/data';

const { corpus, queries, qrels } = await loadDataset({ name: 'jsonl', path: 'examples/data' });
console.log(`${corpus.size} turns of ${corpus.conversations.length} conversations, ${queries.length} queries`);
console.log(corpus.turns[0]?.text, qrels.get('q0-0'));
