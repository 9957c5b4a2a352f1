// Train: weights of an arm's signals, on the queries of dev.
import { experiment } from 'rag-plusplus';
import { computeRawWeights, createLinearModel, fitStandardisation, train } from 'rag-plusplus/learning';

const relevance = { signals: ['cosine', 'bm25'] } as const;
const arms = [{ name: 'hybrid', candidates: [{ index: 'bm25' }, { index: 'flat' }], relevance }] as const;
const data = { name: 'jsonl', path: 'examples/data' } as const;
const table = (await experiment({ data, arms, evaluation: { split: 'dev', inspect: 100 } }).run()).features('hybrid');
const model = createLinearModel({ signals: table.signals }, fitStandardisation(table, table.signals));
const { values } = await train(model, table, null, { epochs: 20 });
console.log(computeRawWeights(model, values));
