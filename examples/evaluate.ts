// Evaluate: any ranking against any judgements, by the metrics of trec_eval.
import { evaluate, summarise } from 'rag-plusplus/eval';

const ranked = ['a2', 'a7', 'a4'].map((id, place) => ({ id, score: 1 / (1 + place) }));
const run = new Map([['q1', ranked]]);
const qrels = new Map([['q1', new Map(Object.entries({ a7: 1, a9: 1 }))]]);
const options = { relevantGrade: 1, unanswerable: 'apart', holeDepth: 10 } as const;
console.log(summarise(evaluate(run, qrels, ['mrr@10', 'recall@10', 'ndcg@10'], options)));
