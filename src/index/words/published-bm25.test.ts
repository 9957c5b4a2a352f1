import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { describeData } from '../../data/prepared/data-folder.harness.ts';
import { type DatasetInput, loadDataset } from '../../data/registry.ts';
import { createIndex, type IndexInput } from '../registry.ts';

interface Config {
  readonly extends?: string;
  readonly dataset: DatasetInput;
  readonly arms: Readonly<
    Record<string, { readonly steps: readonly { readonly search: { readonly bm25: object } }[] }>
  >;
}

/** A config of the project; what it has over the one that it extends. */
function readConfig(name: string): Config {
  const own = parse(readFileSync(new URL(`../../../configs/${name}`, import.meta.url), 'utf8')) as Config;
  if (own.extends === undefined) return own;
  const start = readConfig(own.extends);
  return { ...start, ...own, dataset: { ...start.dataset, ...own.dataset } as DatasetInput };
}

/** A ranking, and how many documents are relevant. */
interface Judged {
  readonly hits: readonly boolean[];
  readonly relevant: number;
}

/** The rankings that an arm of a config of the project, with one source, gives for all questions. */
async function rankByConfig(name: string, path: string, arm: string, k: number): Promise<Judged[]> {
  const config = readConfig(`${name}.yaml`);
  const { corpus, queries, qrels, relevantGrade } = await loadDataset({ ...config.dataset, path } as DatasetInput);
  const source = { index: 'bm25', ...config.arms[arm]?.steps[0]?.search.bm25 } as IndexInput;
  const index = await createIndex(source, { corpus });
  const batch = {
    texts: queries.map(({ text }) => text),
    vectors: new Float32Array(0),
    cutoffs: Int32Array.from(queries, ({ timestamp }) => corpus.countEarlierTurns(timestamp)),
  };
  const { positions } = await index.search(batch, k);
  return queries.map(({ id }, query) => {
    const relevant = [...(qrels.get(id) ?? [])].filter(([, grade]) => grade >= relevantGrade).map(([turn]) => turn);
    const ranked = [...positions.subarray(query * k, (query + 1) * k)];
    const hits = ranked.map((position) => relevant.includes(corpus.turns[position]?.id ?? ''));
    return { hits, relevant: relevant.length };
  });
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const sum = (count: number, term: (rank: number) => number) =>
  Array.from({ length: count }, (_, i) => term(i + 1)).reduce((total, value) => total + value, 0);

/** The formulas, of judgements that are 0 or 1. */
const METRICS = {
  recall: ({ hits, relevant }: Judged) => hits.filter(Boolean).length / relevant,
  averagePrecision: ({ hits, relevant }: Judged) => {
    const precisionAt = (rank: number) => hits.slice(0, rank).filter(Boolean).length / rank;
    return sum(hits.length, (rank) => (hits[rank - 1] ? precisionAt(rank) : 0)) / relevant;
  },
  ndcg: ({ hits, relevant }: Judged) =>
    sum(hits.length, (rank) => (hits[rank - 1] ? 1 / Math.log2(rank + 1) : 0)) /
    sum(relevant, (rank) => 1 / Math.log2(rank + 1)),
};

describeData('BM25 on Vaswani', 'vaswani', (path) => {
  test.each([
    ['bm25', 0.2899, 0.6153],
    ['bm25 of the framework', 0.2897, 0.6146],
  ])('%s is within .01 of the published map and nDCG of Terrier', async (arm, map, ndcg) => {
    const judged = await rankByConfig('vaswani', path, arm, 1000);
    const [ourMap, ourNdcg] = [mean(judged.map(METRICS.averagePrecision)), mean(judged.map(METRICS.ndcg))];
    expect(Math.abs(ourMap - 0.2965)).toBeLessThan(0.01);
    expect(Math.abs(ourNdcg - 0.6212)).toBeLessThan(0.01);
    expect([ourMap.toFixed(4), ourNdcg.toFixed(4)]).toEqual([map.toFixed(4), ndcg.toFixed(4)]); // as the docs have them
  });
});

describeData('BM25 on multi-hop questions', 'hipporag', (path) => {
  test.each([
    ['multihop-hotpotqa', 0.775, '0.7800'],
    ['multihop-musique', 0.488, '0.4892'],
  ])('%s: recall@5 is within .01 of the reference %s', async (config, reference, documented) => {
    const recall = mean((await rankByConfig(config, path, 'bm25', 5)).map(METRICS.recall));
    expect(Math.abs(recall - reference)).toBeLessThan(0.01);
    expect(recall.toFixed(4)).toBe(documented);
  });
});
