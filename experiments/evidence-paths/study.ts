import { join } from 'node:path';
import { z } from 'zod';
import { LOCOMO_CATEGORIES } from '../../src/data/prepared/datasets.ts';
import { loadDataset } from '../../src/data/registry.ts';
import { createIndex } from '../../src/index/registry.ts';
import { GraphIndex } from '../../src/index/walks/graph-index.ts';
import { graph } from '../../src/index/walks/graph-options.ts';
import { MOST_HOPS } from '../../src/index/walks/graph-pairs.ts';
import { describeTestSplit } from '../../src/lab/measure/passport.ts';
import type { QueryBatch } from '../../src/model/candidates.ts';
import type { Dataset, Query } from '../../src/model/dataset.ts';
import { listSharedContentStems } from '../../src/model/text/tokens.ts';
import type { Corpus } from '../../src/model/turns/corpus.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** A file in the format of locomo10.json. */
  path: z.string().min(1).default('locomo10.json'),
  categories: z.array(z.enum(LOCOMO_CATEGORIES)).min(1).default(['multi-hop']),
  /** Whose questions: a hash of an id puts a question into one half. */
  split: z.enum(['dev', 'test']).default('test'),
  /** The turns at which paths start: the first of BM25. */
  seedTurns: z.int().min(1).default(10),
});

/** A turn of the conversation that a question asks. */
interface AskedTurn {
  readonly isRelevant: boolean;
  /** True if question and turn share a content word. */
  readonly sharesWord: boolean;
  /** From 1 in the list of BM25; infinite for a turn that is not in it. */
  readonly rank: number;
  /** Edges to the nearest of the first turns of BM25; infinite beyond {@link MOST_HOPS}. */
  readonly edges: number;
  /** True if the turn mentions a concept of the question. */
  readonly mentions: boolean;
}

/** Questions about one conversation each, as indexes see them. */
function buildBatch(corpus: Corpus, queries: readonly Query[]): QueryBatch & { readonly conversations: Int32Array } {
  const places = new Map(corpus.conversations.map(({ id }, place) => [id, place]));
  return {
    texts: queries.map(({ text }) => text),
    vectors: new Float32Array(0),
    cutoffs: Int32Array.from(queries, ({ timestamp }) => corpus.countEarlierTurns(timestamp)),
    conversations: Int32Array.from(queries, ({ conversationId }) => places.get(conversationId ?? '') ?? -1),
  };
}

/** The places in the list of BM25, from 1, of the turns that it finds for each question. */
async function rankByWords(corpus: Corpus, batch: QueryBatch, width: number): Promise<ReadonlyMap<number, number>[]> {
  const words = await createIndex({ index: 'bm25', dropStopWords: true, stem: 'english' }, { corpus });
  const { positions } = await words.search(batch, width).finally(() => words.dispose());
  return batch.texts.map((_, row) => {
    const found = positions.subarray(row * width, (row + 1) * width).filter((position) => position >= 0);
    return new Map(Array.from(found, (position, place) => [position, place + 1]));
  });
}

/** Every turn of the conversation of each question. */
async function listAskedTurns(dataset: Dataset, queries: readonly Query[], seedTurns: number): Promise<AskedTurn[][]> {
  const { corpus, qrels, relevantGrade } = dataset;
  const batch = buildBatch(corpus, queries);
  const asked = Array.from(batch.conversations, (place) => corpus.conversations[place]!.turns);
  const width = Math.max(...asked.map((turns) => turns.length));
  const ranks = await rankByWords(corpus, batch, width);
  const seeds = ranks.map((ranked) => {
    const positions = Int32Array.from([...ranked.keys()].slice(0, seedTurns));
    return { positions, weights: new Float32Array(positions.length).fill(1) };
  });
  const places = asked.map((turns) => turns.map(({ id }) => corpus.getPosition(id)));
  const positions = new Int32Array(queries.length * width).fill(-1);
  for (const [row, of] of places.entries()) positions.set(of, row * width);
  const options = graph.options.parse({ index: 'graph', concepts: 'phrases', seeds: { turns: seedTurns } });
  const index = new GraphIndex({ corpus, vectors: new Float32Array(0), dimension: 0 }, options);
  const pairs = await index.scorePairs({ ...batch, seeds }, positions, width).finally(() => index.dispose());
  return queries.map(({ id, text }, row) =>
    asked[row]!.map((turn, at) => {
      const nearness = pairs.distance[row * width + at]!;
      return {
        isRelevant: (qrels.get(id)?.get(turn.id) ?? 0) >= relevantGrade,
        sharesWord: listSharedContentStems(text, turn.text).length > 0,
        rank: ranks[row]!.get(places[row]![at]!) ?? Number.POSITIVE_INFINITY,
        edges: nearness === 0 ? Number.POSITIVE_INFINITY : Math.round(1 / nearness - 1),
        mentions: pairs.sharedConcepts[row * width + at]! > 0,
      };
    }),
  );
}

/** What each row of the table counts. */
function listTraits(seedTurns: number): readonly (readonly [name: string, has: (turn: AskedTurn) => boolean])[] {
  const edges = Array.from({ length: MOST_HOPS }, (_, i) => i + 1);
  return [
    ['shares no content word with the question', ({ sharesWord }) => !sharesWord],
    ['mentions a concept of the question', ({ mentions }) => mentions],
    ['is among the first 10 of BM25', ({ rank }) => rank <= 10],
    ['is among the first 100 of BM25', ({ rank }) => rank <= 100],
    ...edges.map(
      (most) =>
        [
          `is at most ${most} ${most === 1 ? 'edge' : 'edges'} from the first ${seedTurns} of BM25`,
          (turn: AskedTurn) => turn.edges <= most,
        ] as const,
    ),
  ];
}

const countShare = (turns: readonly AskedTurn[], has: (turn: AskedTurn) => boolean) =>
  turns.length === 0 ? null : turns.filter(has).length / turns.length;

/** How the relevant turns of questions are joined to the question: by words, by concepts, and by paths in the concept graph. */
export const evidencePaths: Study<typeof settings> = {
  name: 'evidence-paths',
  description: 'how the evidence of questions is joined to them: shared words, shared concepts, paths in the graph',
  settings,
  measure: async ({ path, categories, split, seedTurns }, { cacheFolder, progress }) => {
    const options = { name: 'locomo', path, categories, splitQuestions: true } as const;
    const dataset = await loadDataset(options, { cacheFolder: join(cacheFolder, 'datasets'), progress });
    const queries = dataset.queries.filter((query) => query.split === split);
    const turns = (await listAskedTurns(dataset, queries, seedTurns)).flat();
    const relevant = turns.filter(({ isRelevant }) => isRelevant);
    const groups = {
      relevant,
      relevantWithoutWords: relevant.filter(({ sharesWord }) => !sharesWord),
      all: turns,
    };
    const rows = listTraits(seedTurns).map(([trait, has]) => ({
      trait,
      relevant: countShare(groups.relevant, has),
      relevantWithoutWords: countShare(groups.relevantWithoutWords, has),
      all: countShare(groups.all, has),
    }));
    const counts = { questions: queries.length, relevant: relevant.length, all: turns.length };
    const format = (share: number | null) => (share === null ? '—' : share.toFixed(3).replace(/^0/, ''));
    const head = ['the turn', 'relevant turns', 'relevant turns without a shared word', 'all turns'];
    return {
      dataset: { name: `${dataset.name} ${split}, ${categories.join(', ')}`, hash: dataset.hash },
      tested: [describeTestSplit(dataset, queries)],
      figures: { ...counts, rows },
      sections: [
        formatPipeTable({
          head,
          rows: rows.map((row) => [row.trait, ...[row.relevant, row.relevantWithoutWords, row.all].map(format)]),
        }),
        `Shares of the pairs of a question and a turn of its conversation. ${counts.questions} questions, ${counts.relevant} relevant turns, ${groups.relevantWithoutWords.length} of them without a shared word; ${counts.all} pairs in all.`,
      ],
    };
  },
};
