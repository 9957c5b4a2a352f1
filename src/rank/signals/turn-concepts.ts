import { SensitiveTextError } from '../../core/errors/errors.ts';
import { createEventBreaks, type StartProgress } from '../../core/terminal/progress.ts';
import { once } from '../../core/values/once.ts';
import type { ConceptVectors } from '../../index/candidates/index-definition.ts';
import { TopSelection } from '../../index/candidates/top-selection.ts';
import {
  type ConceptFileSource,
  type ConceptSource,
  chooseTextSource,
  identifyConceptSource,
} from '../../index/graph/extraction/concept-source.ts';
import type { KeptGraphs, TextConceptSource } from '../../index/graph/graph-moment.ts';
import { type GraphIndexOptions, graph } from '../../index/walks/graph-options.ts';
import type { GraphPairs } from '../../index/walks/graph-pairs.ts';
import { bm25 } from '../../index/words/bm25.ts';
import type { Candidates, SeedTurns } from '../../model/candidates.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { TieOrder } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { convexCombination, convexCombinationOptions } from '../../ops/fusion/convex-combination.ts';
import { reciprocalRankFusion, reciprocalRankOptions } from '../../ops/fusion/reciprocal-rank.ts';
import type { ScoreColumns } from '../../ops/fusion/score-columns.ts';
import { bm25Signal } from './bm25.ts';
import {
  buildConceptList,
  ConceptList,
  ConceptVectorList,
  listTurnConcepts,
  type TurnConcepts,
} from './concept-list.ts';
import { cosineSignal } from './cosine.ts';
import { computeEach, defineSignal, defineStage, type StageUse, type World } from './signal.ts';
import type { Column, PoolRows } from './stage.ts';
import { mapLocalRows, type Subcorpus, selectScopeValues } from './subcorpus.ts';
import type { WorldPart } from './worlds/world-parts.ts';

const { k: RANK_CONSTANT } = reciprocalRankOptions.parse({ method: 'rrf' });

/** The values that the weights of seed turns follow. */
type SeedWeights = GraphIndexOptions['seeds']['weights'];

const FUSIONS: Readonly<Record<SeedWeights, (columns: ScoreColumns) => Float64Array>> = {
  ranks: (columns) => reciprocalRankFusion(columns, { k: RANK_CONSTANT, weights: {} }),
  scores: (columns) => {
    // A cosine below 0 says as little as an absent turn.
    const above = Object.entries(columns).map(([name, column]) => [name, column.map((score) => Math.max(score, 0))]);
    const weights = Object.fromEntries(Object.keys(columns).map((name) => [name, 1]));
    return convexCombination(Object.fromEntries(above), convexCombinationOptions.parse({ method: 'convex', weights }));
  },
};

/** The scores of one query in the order of its turns, NaN for those that a list lacks. */
function alignScores(
  { positions, scores, width }: Candidates,
  query: number,
  slotOf: ReadonlyMap<number, number>,
): Float64Array {
  const column = new Float64Array(slotOf.size).fill(Number.NaN);
  for (let i = query * width; i < (query + 1) * width; i++) {
    const slot = slotOf.get(positions[i] as number);
    if (slot !== undefined) column[slot] = scores[i] as number;
  }
  return column;
}

/** The turns of a query that the lists hold, in the order of the tie rule. */
function listFoundTurns(lists: readonly Candidates[], query: number, compareTies: TieOrder): number[] {
  const found = new Set(
    lists.flatMap(({ positions, width }) => [...positions.subarray(query * width, (query + 1) * width)]),
  );
  found.delete(-1);
  return [...found].sort(compareTies);
}

/**
 * Where the walks of each query start: the turns that other sources found, by the fusion of their lists times the
 * attribute `importance` of the turn (1 without one). `ranks` fuses by reciprocal rank; `scores` sums the scores as
 * shares of the largest of their list. Best first by the tie rule.
 *
 * @param seeds how many turns of a query, and what their weights follow.
 * @returns [Q] null where there are no lists, or no turns are asked for.
 */
export function fuseSeedTurns(
  lists: readonly Candidates[],
  queryCount: number,
  { turns: most, weights }: Pick<GraphIndexOptions['seeds'], 'turns' | 'weights'>,
  { turns, compareTies }: Pick<Corpus, 'turns' | 'compareTies'>,
): (SeedTurns | null)[] {
  if (lists.length === 0 || most === 0) return Array(queryCount).fill(null);
  const readImportance = (position: number) => {
    const importance = turns[position]?.attributes?.importance;
    return typeof importance === 'number' ? importance : 1;
  };
  const top = new TopSelection(most, compareTies);
  return Array.from({ length: queryCount }, (_, query) => {
    const found = listFoundTurns(lists, query, compareTies);
    const slotOf = new Map(found.map((position, slot) => [position, slot]));
    const columns = Object.fromEntries(lists.map((list, i) => [`${i}`, alignScores(list, query, slotOf)]));
    const fused = FUSIONS[weights](columns);
    for (const [slot, position] of found.entries()) {
      const weight = (fused[slot] as number) * readImportance(position);
      if (weight > 0) top.offer(position, weight);
    }
    const best = { positions: new Int32Array(most).fill(-1), scores: new Float32Array(most), width: most };
    top.drainTo(best, 0);
    const count = best.positions.findLastIndex((position) => position >= 0) + 1;
    return { positions: best.positions.subarray(0, count), weights: best.scores.subarray(0, count) };
  });
}

/** A text to be read, with its title if it has one. */
interface TitledText {
  readonly text: string;
  readonly title: string | null;
}

const loadGraphs = () => import('../../index/graph/graph-moment.ts');

async function readConcepts(
  texts: readonly TitledText[],
  source: TextConceptSource,
  noun: string,
  startProgress: StartProgress,
): Promise<string[][]> {
  const { listConcepts } = await loadGraphs();
  const progress = startProgress(`concepts of ${noun}`, texts.length);
  const pause = createEventBreaks();
  const lists: string[][] = [];
  for (const { text, title } of texts) {
    lists.push([...listConcepts(text, title, source)]);
    progress.update(lists.length);
    await pause();
  }
  progress.finish(`concepts of ${texts.length} ${noun}`);
  return lists;
}

/** One of the lists of a file of concepts. */
async function readFileLists(
  { corpus, subcorpora, startProgress }: Pick<World, 'corpus' | 'subcorpora' | 'startProgress'>,
  source: ConceptFileSource,
  noun: 'concepts' | 'relations',
): Promise<TurnConcepts> {
  const { ConceptFileReader } = await import('../../index/graph/extraction/concept-file.ts');
  const content = identifyConceptSource(source);
  const progress = startProgress(`${noun} of turns`, corpus.size);
  const file = await subcorpora.whole.keepOnce(
    ['concept file', content],
    () => new ConceptFileReader(source),
    (earlier) => earlier,
  );
  const remarks: string[] = [];
  const readLater = (list: ConceptList) => {
    const { remark, ...lists } = file.read(corpus.turns, list.length);
    if (remark !== null) remarks.push(remark);
    for (const concepts of lists[noun]) list.push(concepts);
    return list;
  };
  const list = await subcorpora.whole.keepOnce([noun, content], () => readLater(new ConceptList()), readLater);
  const read = list.read();
  const found = `${read.names.length} concepts of ${corpus.size} turns of ${source.file}`;
  progress.finish([found, ...remarks].join('; '));
  return read;
}

/** The concepts of every turn; raise the version when the same code finds others, as with another model of a language. */
export const turnConcepts = defineStage<ConceptSource, TurnConcepts>({
  name: 'concepts',
  module: import.meta.url,
  version: 1,
  of: 'turns',
  reads: ['texts', 'attributes'],
  key: identifyConceptSource,
  compute: async ({ world }, source) => {
    if (typeof source !== 'string') return readFileLists(world, source, 'concepts');
    const { readTitle } = await loadGraphs();
    const read = (turns: readonly Turn[]) => {
      const texts = turns.map((turn) => ({ text: turn.text, title: readTitle(turn) }));
      return readConcepts(texts, source, 'turns', world.startProgress);
    };
    const list = await computeEach(world, ['concepts', source], () => new ConceptList(), read);
    return list.read();
  },
});

/** Both ends of each triple of every turn, one after the other. */
export const turnRelations = defineStage<ConceptFileSource, TurnConcepts>({
  name: 'concept-relations',
  module: import.meta.url,
  of: 'turns',
  reads: ['texts', 'attributes'],
  key: identifyConceptSource,
  compute: ({ world }, source) => readFileLists(world, source, 'relations'),
});

const textQueryConcepts = defineStage<TextConceptSource, TurnConcepts>({
  name: 'query-concepts',
  module: import.meta.url,
  version: 1,
  of: 'queries',
  reads: ['texts'],
  compute: async ({ world }, source) => {
    const texts = world.batch.texts.map((text) => ({ text, title: null }));
    return buildConceptList(await readConcepts(texts, source, 'queries', world.startProgress));
  },
});

/** The concepts of every query: arms that differ in their walks share them. Where a file has the concepts of turns, those of queries are phrases. */
export const queryConcepts = (source: ConceptSource): StageUse<TurnConcepts> =>
  textQueryConcepts(chooseTextSource(source));

/** The vectors of all concepts of the turns, by the encoder of the arm; each belongs to the first turn that mentions it, or to the last sensitive one. */
export const conceptVectors = defineStage<ConceptSource, ConceptVectors, { readonly concepts: StageUse<TurnConcepts> }>(
  {
    name: 'concept-vectors',
    module: import.meta.url,
    of: 'turns',
    reads: ['texts', 'attributes', 'vectors'],
    key: identifyConceptSource,
    inputs: (source) => ({ concepts: turnConcepts(source) }),
    compute: async ({ world, inputs: { concepts } }, source) => {
      const list = await world.subcorpora.whole.keepOnce(
        ['concept vectors', identifyConceptSource(source)],
        () => new ConceptVectorList().add(world, concepts),
        (earlier) =>
          earlier.add(world, concepts).catch((error: unknown) => {
            // All concepts are refused then, as the error states.
            if (error instanceof SensitiveTextError) return null;
            throw error;
          }),
      );
      return list.read(concepts.names);
    },
  },
);

/** The concept graphs that the indexes and signals of a workspace share. */
export function shareConceptGraphs({ shared }: World): Promise<KeptGraphs> {
  return shared.keepOnce('concept graphs', async () => new (await loadGraphs()).KeptGraphs());
}

const BM25 = bm25.options.parse({ index: 'bm25' });
const readGraph = once(() => graph.options.parse({ index: 'graph' }));

const GRAPH_READS: readonly WorldPart[] = ['texts', 'times', 'replies', 'attributes'];
/** Vectors decide which turns walks start at, and nothing else. */
const WALK_READS: readonly WorldPart[] = [...GRAPH_READS, 'vectors'];
const COLUMNS = ['pagerank', 'distance', 'degree', 'sharedConcepts'] as const satisfies readonly (keyof GraphPairs)[];

/** The candidates that a signal scores above 0, as a source would find them. */
function listScored({ positions, width }: PoolRows, scores: Column): Candidates {
  return { positions: positions.map((position, i) => ((scores[i] as number) > 0 ? position : -1)), scores, width };
}

/** An index over the graph of a subcorpus, which holds no similar turns and so needs no vectors. */
function openGraphOver({ shared }: World, subcorpus: Subcorpus, concepts: readonly (readonly string[])[]) {
  const describe = async () => ({
    corpus: subcorpus.corpus,
    vectors: new Float32Array(0),
    dimension: 0,
    concepts: selectScopeValues(subcorpus, concepts),
    graphs: await shareConceptGraphs(shared),
  });
  return subcorpus.keepOnce(
    'graph relations',
    async () => {
      const { GraphIndex } = await import('../../index/walks/graph-index.ts');
      return new GraphIndex(await describe(), readGraph());
    },
    async (earlier) => {
      await earlier.growWith(await describe());
      return earlier;
    },
  );
}

type Inputs = {
  readonly bm25: StageUse<Column>;
  readonly cosine: StageUse<Column>;
  readonly concepts: StageUse<TurnConcepts>;
  readonly asked: StageUse<TurnConcepts>;
};

/**
 * The scores of every candidate on the graph of the query's moment: the graph that the index `graph` has by default,
 * with the best candidates as its seed turns.
 */
const relations = defineStage<null, GraphPairs, Inputs>({
  name: 'graph-relations',
  module: import.meta.url,
  of: 'pairs',
  reads: WALK_READS,
  key: () => readGraph(),
  inputs: () => ({
    bm25: bm25Signal(BM25),
    cosine: cosineSignal(null),
    concepts: turnConcepts(readGraph().concepts),
    asked: queryConcepts(readGraph().concepts),
  }),
  compute: async ({ world, pool, inputs }) => {
    const { batch, corpus, subcorpora } = world;
    const lists = [inputs.bm25, inputs.cosine].map((scores) => listScored(pool, scores));
    const seeds = fuseSeedTurns(lists, pool.queryCount, readGraph().seeds, corpus);
    const concepts = listTurnConcepts(inputs.concepts);
    const asked = { ...batch, seeds, concepts: listTurnConcepts(inputs.asked) };
    const allocate = () => new Float32Array(pool.positions.length);
    const all: GraphPairs = {
      pagerank: allocate(),
      distance: allocate(),
      degree: allocate(),
      sharedConcepts: allocate(),
    };
    for (const { subcorpus, queryIndexes, batch: part } of subcorpora.split(asked)) {
      const index = await openGraphOver(world, subcorpus, concepts);
      const pairs = await index.scorePairs(part, mapLocalRows(subcorpus, pool, queryIndexes), pool.width);
      for (const [row, query] of queryIndexes.entries())
        for (const name of COLUMNS)
          all[name].set(pairs[name].subarray(row * pool.width, (row + 1) * pool.width), query * pool.width);
    }
    return all;
  },
})(null);

/** Builds the graphs of the subcorpora that are asked. */
export async function prepareGraphRelations(world: World): Promise<void> {
  const concepts = listTurnConcepts(await world.shared.get(turnConcepts(readGraph().concepts)));
  const nothing = { texts: [], vectors: new Float32Array(0), cutoffs: new Int32Array(0) };
  for (const { subcorpus } of world.subcorpora.split(world.batch)) {
    const index = await openGraphOver(world, subcorpus, concepts);
    await index.scorePairs(nothing, new Int32Array(0), 1);
  }
}

const defineRelation = (name: string, column: keyof GraphPairs, reads: readonly WorldPart[], summary: string) =>
  defineSignal<null, { readonly relations: StageUse<GraphPairs> }>({
    name,
    summary,
    module: import.meta.url,
    isKept: false,
    reads,
    key: () => column,
    inputs: () => ({ relations }),
    compute: ({ inputs }) => inputs.relations[column],
  });

/** The signals of the concept graph, in the order of their columns in a bank. */
export const listGraphRelations = once(() => ({
  pagerank: defineRelation(
    'graph.pagerank',
    'pagerank',
    WALK_READS,
    'personalised PageRank on the concept graph, from the concepts of the query and its ten best candidates by `bm25` and `cosine`',
  ),
  distance: defineRelation(
    'graph.distance',
    'distance',
    WALK_READS,
    '1 / (1 + edges to the nearest of these candidates), for at most four edges; 0 beyond',
  ),
  degree: defineRelation('graph.degree', 'degree', GRAPH_READS, 'ln(1 + weight of its edges in the concept graph)'),
  sharedConcepts: defineRelation(
    'graph.shared-concepts',
    'sharedConcepts',
    GRAPH_READS,
    'sum over the concepts that it shares with the query of 1 / turns that mention the concept',
  ),
}));
