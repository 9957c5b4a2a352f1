import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { drawContractCorpus } from '../candidates/contract-sample.fixture.ts';
import { GraphIndex } from '../walks/graph-index.ts';
import { graph } from '../walks/graph-options.ts';
import { KeptGraphs } from './graph-moment.ts';

beforeAll(async () => void (await useBackend('wasm')));

const listWords = createTokeniser({ dropStopWords: false, stem: false });
const { ids, texts, vectors, dimension } = drawContractCorpus(53);
const corpus = new Corpus(
  ids.map((id, i) => ({
    id,
    conversationId: `c${i % 4}`,
    parentId: i >= 4 ? (ids[i - 4] as string) : null,
    timestamp: i,
    author: null,
    channel: null,
    text: texts[i] as string,
    attributes: i % 3 === 0 ? { title: (texts[i] as string).split(' ').slice(0, 2).join(' ') } : {},
  })),
);
const concepts = corpus.turns.map(({ text }) => listWords(text));
const queries = {
  texts: [texts[3] as string, texts[11] as string],
  vectors: new Float32Array(2 * dimension),
  cutoffs: Int32Array.of(53, 41),
};

/** What an index finds, with a graph of its own or with the shared ones. */
async function search(given: object, graphs?: KeptGraphs, of = corpus) {
  const context = { corpus: of, vectors, dimension, concepts, ...(graphs && { graphs }) };
  const index = new GraphIndex(context, graph.options.parse({ index: 'graph', ...given }), listWords);
  try {
    return await index.search(queries, 20);
  } finally {
    index.dispose();
  }
}

const ALIKE = [
  {},
  { damping: 0.8, specificity: 'both' },
  { scoring: 'hop-decay', seeds: { titles: true } },
  { edges: { mentions: 0.5, names: 0, namedBy: 2 } },
  { edges: { mentions: 0 }, seeds: { titles: true } },
  { edges: { names: 0, namedBy: 0, reply: 0, next: 0 }, similarAbove: 0.2, aliasAbove: 0.9 },
];
const OTHERS = [
  { edges: { similar: 1 }, similarAbove: 0.3 },
  { edges: { similar: 1 }, similarAbove: 0.9 },
  { edges: { alias: 1 }, aliasAbove: 0.2 },
  { edges: { alias: 1 }, aliasAbove: 0.7 },
  { edges: { cooccurrence: 1 } },
];

test('indexes that differ in seeds, scoring and weights share a graph, and find what each finds alone', async () => {
  const graphs = new KeptGraphs();
  const found = [];
  for (const options of ALIKE) {
    const shared = await search(options, graphs);
    expect(shared, JSON.stringify(options)).toEqual(await search(options));
    found.push(shared.scores.join());
  }
  expect(graphs.built).toBe(1);
  expect(new Set(found).size).toBe(ALIKE.length);
});

test('other edges are another graph, of which one at a time is kept', async () => {
  const graphs = new KeptGraphs();
  for (const options of OTHERS)
    expect(await search(options, graphs), JSON.stringify(options)).toEqual(await search(options));
  expect(graphs.built).toBe(OTHERS.length);
  await search({}, graphs);
  await search({}, graphs, new Corpus(corpus.turns));
  await search({}, graphs);
  expect(graphs.built).toBe(OTHERS.length + 2);
});
