// Train: weights of an arm's signals, on the queries of dev.
import { experiment, fuse, search } from 'rag-plusplus';
import { computeRawWeights, createLinearModel, fitStandardisation, train } from 'rag-plusplus/rank';

const hybrid = [search({ bm25: {}, flat: {} }), fuse({ convex: { flat: 0.8, bm25: 'rest' } })];
const data = { name: 'jsonl', path: 'examples/data' } as const;
const table = (await experiment({ data, arms: { hybrid }, evaluation: { split: 'dev', inspect: 100 } }).run()).features(
  'hybrid',
);
const model = createLinearModel({ signals: table.signals }, fitStandardisation(table, table.signals));
const { values } = await train(model, table, null, { epochs: 20 });
console.log(computeRawWeights(model, values));
