import { KeptGraphs } from '../../index/graph/graph-moment.ts';
import { graph } from '../../index/walks/graph-options.ts';
import type { GraphPairs } from '../../index/walks/graph-pairs.ts';
import { bm25 } from '../../index/words/bm25-variants.ts';
import type { Candidates } from '../../model/candidates.ts';
import { bm25Signal } from './bm25.ts';
import type { Column, PoolRows } from './candidate-pool.ts';
import { cosineSignal } from './cosine.ts';
import { defineSignal, defineStage, type StageUse, type World } from './signal.ts';
import { mapLocalRows, type Subcorpus } from './subcorpus.ts';
import { fuseSeedTurns, listTurnConcepts, queryConcepts, type TurnConcepts, turnConcepts } from './turn-concepts.ts';
import type { WorldPart } from './worlds/world-parts.ts';

/** The concept graphs that the indexes and signals of a workspace share. */
export function shareConceptGraphs({ shared }: World): Promise<KeptGraphs> {
  return shared.keepOnce('concept graphs', () => new KeptGraphs());
}

const BM25 = bm25.options.parse({ index: 'bm25' });
const GRAPH = graph.options.parse({ index: 'graph' });

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
  return shared.keepOnce(['graph relations', subcorpus.conversationId], async () => {
    const { GraphIndex } = await import('../../index/walks/graph-index.ts');
    const context = {
      corpus: subcorpus.corpus,
      vectors: new Float32Array(0),
      dimension: 0,
      concepts: Array.from(subcorpus.positions, (position) => concepts[position] as readonly string[]),
      graphs: await shareConceptGraphs(shared),
    };
    return shared.keepResource(new GraphIndex(context, GRAPH));
  });
}

type Inputs = {
  readonly bm25: StageUse<Column>;
  readonly cosine: StageUse<Column>;
  readonly concepts: StageUse<TurnConcepts>;
  readonly asked: StageUse<TurnConcepts>;
};

/** What every candidate is on the graph of the query's moment: the graph that the index `graph` has by default, with the best candidates as its seed turns. */
const relations = defineStage<null, GraphPairs, Inputs>({
  name: 'graph-relations',
  module: import.meta.url,
  of: 'pairs',
  reads: WALK_READS,
  key: () => GRAPH,
  inputs: () => ({
    bm25: bm25Signal(BM25),
    cosine: cosineSignal(null),
    concepts: turnConcepts(GRAPH.concepts),
    asked: queryConcepts(GRAPH.concepts),
  }),
  compute: async ({ world, pool, inputs }) => {
    const { batch, corpus, tieRanks, subcorpora } = world;
    const lists = [inputs.bm25, inputs.cosine].map((scores) => listScored(pool, scores));
    const seeds = fuseSeedTurns(lists, pool.queryCount, GRAPH.seeds, corpus, tieRanks);
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
  const concepts = listTurnConcepts(await world.shared.get(turnConcepts(GRAPH.concepts)));
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
export const GRAPH_RELATIONS = {
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
} as const;
