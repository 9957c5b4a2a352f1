import { z } from 'zod';
import { createIndex } from '../../src/candidates/registry.ts';
import { type AssemblyInput, assemble } from '../../src/context/assemble.ts';
import { type BudgetPreset, PRESET_OF_STRATEGY } from '../../src/context/budget.ts';
import { type MemorySources, openMemorySources } from '../../src/context/memory-sources.ts';
import type { MemorySourcesInput } from '../../src/context/memory-sources-options.ts';
import type { ContextSource } from '../../src/context/source.ts';
import { describeTurn } from '../../src/context/turn-item.ts';
import { computeHash } from '../../src/core/hash.ts';
import { getOrCompute } from '../../src/core/once.ts';
import { createRandom } from '../../src/core/random.ts';
import { askShop, type ShopQuestion } from '../../src/datasets/shop/ask-shop.ts';
import { drawShop } from '../../src/datasets/shop/draw-shop.ts';
import { isDevQuestion } from '../../src/datasets/shop/shop.ts';
import { createEncoder, encoderOptions } from '../../src/embedding/registry.ts';
import { groupIntoClusters } from '../../src/evaluation/clusters.ts';
import { type Estimate, meanIntervals } from '../../src/evaluation/mean-intervals.ts';
import { type BaselineComparison, compareWithBaseline } from '../../src/evaluation/significance.ts';
import { MERGE_PRESETS } from '../../src/fusion/weighted-merge.ts';
import { Corpus } from '../../src/model/corpus.ts';
import type { Turn } from '../../src/model/turn.ts';
import { understand } from '../../src/query/understand.ts';
import { estimate, formatDecimal, formatSigned } from '../../src/report/tables/format.ts';
import type { Study } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  shopSeed: z.int().default(1),
  customers: z.int().min(10).max(400).default(40),
  pages: z.int().min(10).max(5000).default(300),
  questions: z.int().min(12).max(2000).default(400),
  split: z.enum(['dev', 'test', 'all']).default('test'),
  embedding: encoderOptions.prefault({ encoder: 'use-lite' }),
  /** Tokens, `characters/4`. */
  budgets: z.array(z.int().min(1)).min(1).default([250, 500, 1000, 2000, 4000]),
  samples: z.int().min(100).default(10_000),
  level: z.number().gt(0).lt(1).default(0.95),
});

/** One way to put a context together. */
interface ContextArm {
  readonly name: string;
  /** `by-question`: that of the strategy; `drawn`: a null control, any of them. */
  readonly preset: BudgetPreset | 'by-question' | 'drawn';
  readonly assembly?: AssemblyInput;
  readonly sources?: MemorySourcesInput;
}

const BASELINE = 'balanced';
const PRESETS = Object.keys(MERGE_PRESETS) as BudgetPreset[];
const mmr = (lambda: number): ContextArm => ({
  name: `mmr, lambda ${lambda}`,
  preset: BASELINE,
  sources: { selection: { method: 'mmr', lambda, duplicateAbove: 0.95 } },
});
/** The presets, then one change of the first at a time. */
const ARMS: readonly ContextArm[] = [
  ...PRESETS.map((preset) => ({ name: preset, preset })),
  { name: 'preset by question', preset: 'by-question' },
  { name: 'preset drawn (control)', preset: 'drawn' },
  { name: 'knapsack', preset: BASELINE, assembly: { packing: 'knapsack' } },
  { name: 'density', preset: BASELINE, assembly: { packing: 'density' } },
  { name: 'not reranked', preset: BASELINE, assembly: { rerank: 'none' } },
  ...[0.3, 0.5, 0.7, 0.9].map(mmr),
];

/** Asks each question once for each number of items: a source gives the same again. */
function keepAnswers(source: ContextSource): ContextSource {
  const kept = new Map<string, ReturnType<ContextSource>>();
  return (request) =>
    getOrCompute(kept, JSON.stringify([request.query, request.now, request.k]), () => source(request));
}

/** The pages by the words of the question; memories are found by the five sources. */
async function openPages(turns: readonly Turn[]): Promise<{ source: ContextSource; dispose(): void }> {
  const corpus = new Corpus(turns.filter(({ attributes }) => attributes?.source === 'documents'));
  const index = await createIndex({ index: 'bm25', dropStopWords: true, stem: true }, { corpus });
  const source: ContextSource = async ({ query, k }) => {
    const asked = { texts: [query], cutoffs: Int32Array.of(corpus.size), vectors: new Float32Array(0) };
    const { positions, scores } = await index.search(asked, k);
    return [...positions].flatMap((position, place) =>
      position < 0 ? [] : [describeTurn(corpus.turns[position] as Turn, scores[place] as number)],
    );
  };
  return { source, dispose: () => index.dispose() };
}

async function choosePresets(questions: readonly ShopQuestion[], seed: number) {
  const source = createRandom(seed, 'presets');
  const chosen: { byQuestion: BudgetPreset; drawn: BudgetPreset }[] = [];
  for (const { text, timestamp } of questions) {
    const { strategy } = await understand(text, { timestamp, timeZone: 'UTC' });
    const drawn = PRESETS[source.integer(PRESETS.length)] as BudgetPreset;
    chosen.push({ byQuestion: PRESET_OF_STRATEGY[strategy.name], drawn });
  }
  return chosen;
}

/** The share of what answers a question that a context has. */
function countEvidence({ memories }: ShopQuestion, ids: ReadonlySet<string>): number {
  return memories.filter((id) => ids.has(id)).length / memories.length;
}

const formatArm = (mean: Estimate, comparison: BaselineComparison | undefined) => {
  if (comparison === undefined) return estimate(mean, formatDecimal, 2);
  const { difference, verdict } = comparison;
  const mark = { better: ' ▲', worse: ' ▼', undecided: '' }[verdict];
  return `${estimate(mean, formatDecimal, 2)}, ${formatSigned(difference.mean, 3)}${mark}`;
};

/** What documents and memories of a question reach its prompt, by the shares of the budget, the packing, the order and the selection. */
export const contextPresets: Study<typeof settings> = {
  name: 'context-presets',
  description:
    'what reaches a prompt from documents and memories, by the shares of the budget, packing, order and selection',
  settings,
  measure: async (options, { progress }) => {
    const { seed, shopSeed, customers, pages, questions: count, split, embedding, budgets, samples, level } = options;
    const shop = drawShop({ seed: shopSeed, customers, pages });
    const questions = askShop(shop, { seed: shopSeed, questions: count }).filter(
      (question) => question.memories.length > 0 && (split === 'all' || isDevQuestion(question) === (split === 'dev')),
    );
    const encoder = await createEncoder(embedding, { seed, fitTexts: shop.turns.map(({ text }) => text) });
    const presets = await choosePresets(questions, seed);
    const handbook = await openPages(shop.turns);
    const opened = new Map<string, Promise<MemorySources>>();
    const open = (input: MemorySourcesInput = {}) =>
      getOrCompute(opened, JSON.stringify(input), async () => {
        // No deadline: a figure must not depend on the machine.
        const limits = { timeoutMs: 3_600_000 };
        const sources = await openMemorySources({ turns: shop.turns, encoder }, { ...limits, ...input });
        return { ...sources, memories: keepAnswers(sources.memories) };
      });
    const shown = progress('contexts', ARMS.length);
    /** By arm and budget, a share a question. */
    const shares = new Map<string, number[][]>();
    try {
      for (const arm of ARMS) {
        const sources = { ...(await open(arm.sources)), documents: handbook.source };
        const byBudget: number[][] = budgets.map(() => []);
        for (const [q, question] of questions.entries()) {
          const { byQuestion, drawn } = presets[q] as (typeof presets)[number];
          const weights = { 'by-question': byQuestion, drawn }[arm.preset as string] ?? (arm.preset as BudgetPreset);
          for (const [b, budget] of budgets.entries()) {
            const asked = { weights, budget, timeoutMs: 3_600_000, ...arm.assembly };
            const context = await assemble(question.text, asked, sources, { now: question.timestamp });
            byBudget[b]?.push(countEvidence(question, new Set(context.items.map(({ id }) => id))));
          }
        }
        shares.set(arm.name, byBudget);
        shown.update(shares.size);
      }
    } finally {
      for (const sources of opened.values()) (await sources).dispose();
      handbook.dispose();
      encoder.dispose();
    }
    shown.finish();
    const clusters = groupIntoClusters(questions.map(({ cluster }) => cluster));
    const others = ARMS.filter(({ name }) => name !== BASELINE);
    const columns = budgets.map((budget, b) => {
      const read = (name: string) => (shares.get(name) as number[][])[b] as number[];
      const means = meanIntervals(
        ARMS.map(({ name }) => read(name)),
        clusters,
        { samples, seed, level },
      );
      const comparisons = compareWithBaseline(
        others.map(({ name }) => read(name)),
        read(BASELINE),
        clusters,
        { samples, seed, level },
      );
      return { budget, means, comparisons };
    });
    const rows = ARMS.map(({ name }, a) => ({
      name,
      budgets: columns.map(({ budget, means, comparisons }) => ({
        budget,
        mean: means[a] as Estimate,
        comparison: comparisons[others.findIndex((other) => other.name === name)],
      })),
    }));
    const middle = Math.floor(budgets.length / 2);
    const kinds = [...new Set(questions.map(({ kind }) => kind))].sort();
    const byKind = kinds.map((kind) => {
      const places = questions.flatMap((question, q) => (question.kind === kind ? [q] : []));
      const means = ARMS.map(({ name }) => {
        const own = (shares.get(name) as number[][])[middle] as number[];
        return [name, places.reduce((total, q) => total + (own[q] as number), 0) / places.length] as const;
      });
      return { kind, questions: places.length, shares: Object.fromEntries(means) };
    });
    return {
      dataset: {
        name: `shop with ${pages} pages, ${questions.length} questions (${split})`,
        hash: computeHash([shop, questions]),
      },
      figures: { rows, byKind },
      sections: [
        `Share of the memories and pages of the answer that are in the context, by tokens of the budget; then the difference to ${BASELINE}. ${Number((100 * level).toFixed(3))} % intervals by what the question is about; ▲ better, ▼ worse: a paired permutation test, corrected by Holm over the arms of a column, is below .05.`,
        formatPipeTable({
          head: ['context', ...budgets.map(String)],
          rows: rows.map((row) => [
            row.name,
            ...row.budgets.map(({ mean, comparison }) => formatArm(mean, comparison)),
          ]),
        }),
        `The same share within ${budgets[middle]} tokens, by kind of question.`,
        formatPipeTable({
          head: ['context', ...byKind.map(({ kind, questions: asked }) => `${kind}, ${asked}`)],
          rows: ARMS.map(({ name }) => [name, ...byKind.map((row) => formatDecimal(row.shares[name] as number, 2))]),
        }),
      ],
    };
  },
};
