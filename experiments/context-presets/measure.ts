import { createRandom } from '../../src/core/numbers/random.ts';
import type { StartProgress } from '../../src/core/terminal/progress.ts';
import { getOrCompute } from '../../src/core/values/once.ts';
import type { ShopQuestion } from '../../src/data/synthetic/shop.ts';
import { type Estimate, groupIntoClusters, meanIntervals } from '../../src/eval/intervals/mean-intervals.ts';
import { type BaselineComparison, compareWithBaseline } from '../../src/eval/significance/significance.ts';
import { createIndex } from '../../src/index/registry.ts';
import { type AssemblyInput, assemble } from '../../src/memory/context/assemble.ts';
import { type MemorySources, openMemorySources } from '../../src/memory/context/memory-sources.ts';
import type { MemorySourcesInput } from '../../src/memory/context/memory-sources-options.ts';
import { type BudgetPreset, PRESET_OF_STRATEGY } from '../../src/memory/context/packing.ts';
import { type ContextSource, describeTurn } from '../../src/memory/context/source.ts';
import type { Encoder } from '../../src/model/encoder.ts';
import { Corpus } from '../../src/model/turns/corpus.ts';
import type { Turn } from '../../src/model/turns/turn.ts';
import { MERGE_PRESETS } from '../../src/ops/fusion/weighted-combination.ts';
import { understand } from '../../src/rank/query/understand.ts';

/** One way to put a context together. */
export interface ContextArm {
  readonly name: string;
  /** `by-question`: that of the strategy; `drawn`: a null control, any of them. */
  readonly preset: BudgetPreset | 'by-question' | 'drawn';
  readonly assembly?: AssemblyInput;
  readonly sources?: MemorySourcesInput;
}

export const BASELINE = 'balanced';
const PRESETS = Object.keys(MERGE_PRESETS) as BudgetPreset[];
const mmr = (lambda: number): ContextArm => ({
  name: `mmr, lambda ${lambda}`,
  preset: BASELINE,
  sources: { selection: { method: 'mmr', lambda, duplicateAbove: 0.95 } },
});
/** The presets, then one change of the first at a time. */
export const ARMS: readonly ContextArm[] = [
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
  const chosen: { 'by-question': BudgetPreset; drawn: BudgetPreset }[] = [];
  for (const { text, timestamp } of questions) {
    const { strategy } = await understand(text, { timestamp, timeZone: 'UTC' });
    const drawn = PRESETS[source.integer(PRESETS.length)] as BudgetPreset;
    chosen.push({ 'by-question': PRESET_OF_STRATEGY[strategy.name], drawn });
  }
  return chosen;
}

/** The share of what answers a question that a context has. */
function countEvidence({ memories }: ShopQuestion, ids: ReadonlySet<string>): number {
  return memories.filter((id) => ids.has(id)).length / memories.length;
}

/** No deadline: a figure must not depend on the machine. */
const timeoutMs = 3_600_000;

/** Memories with the sources of each arm; those of equal options once. */
class OpenedSources {
  readonly #turns: readonly Turn[];
  readonly #encoder: Encoder;
  readonly #opened = new Map<string, Promise<MemorySources>>();

  constructor(turns: readonly Turn[], encoder: Encoder) {
    this.#turns = turns;
    this.#encoder = encoder;
  }

  open(input: MemorySourcesInput = {}): Promise<MemorySources> {
    return getOrCompute(this.#opened, JSON.stringify(input), async () => {
      const sources = await openMemorySources({ turns: this.#turns, encoder: this.#encoder }, { timeoutMs, ...input });
      return { ...sources, memories: keepAnswers(sources.memories) };
    });
  }

  async dispose(): Promise<void> {
    for (const sources of this.#opened.values()) (await sources).dispose();
  }
}

/** What is asked, and of which memories and pages. */
interface AskedShop {
  readonly turns: readonly Turn[];
  readonly questions: readonly ShopQuestion[];
  readonly encoder: Encoder;
  readonly seed: number;
}

/** By arm and budget, the share of what answers each question that is in its context. */
export type ArmShares = ReadonlyMap<string, readonly (readonly number[])[]>;

/** Puts the context of each question together, by every arm within every budget. */
export async function measureShares(
  { turns, questions, encoder, seed }: AskedShop,
  budgets: readonly number[],
  progress: StartProgress,
): Promise<ArmShares> {
  const presets = await choosePresets(questions, seed);
  const handbook = await openPages(turns);
  const opened = new OpenedSources(turns, encoder);
  const shown = progress('contexts', ARMS.length);
  const shares = new Map<string, number[][]>();
  try {
    for (const { name, preset, assembly, sources: input } of ARMS) {
      const sources = { ...(await opened.open(input)), documents: handbook.source };
      const byBudget: number[][] = budgets.map(() => []);
      for (const [q, question] of questions.entries()) {
        const chosen = presets[q] as (typeof presets)[number];
        const weights = preset === 'by-question' || preset === 'drawn' ? chosen[preset] : preset;
        for (const [b, budget] of budgets.entries()) {
          const asked = { weights, budget, timeoutMs, ...assembly };
          const { items } = await assemble(question.text, asked, sources, { now: question.timestamp });
          byBudget[b]?.push(countEvidence(question, new Set(items.map(({ id }) => id))));
        }
      }
      shares.set(name, byBudget);
      shown.update(shares.size);
    }
  } finally {
    await opened.dispose();
    handbook.dispose();
  }
  shown.finish();
  return shares;
}

/** An arm within one budget; without a comparison it is the baseline. */
export interface ArmFigure {
  readonly budget: number;
  readonly mean: Estimate;
  readonly comparison: BaselineComparison | undefined;
}

/** The figures of each arm, one for each budget. */
export function compareShares(
  shares: ArmShares,
  questions: readonly ShopQuestion[],
  budgets: readonly number[],
  options: { readonly samples: number; readonly seed: number; readonly level: number },
): { readonly name: string; readonly budgets: readonly ArmFigure[] }[] {
  const clusters = groupIntoClusters(questions.map(({ cluster }) => cluster));
  const names = ARMS.map(({ name }) => name);
  const others = names.filter((name) => name !== BASELINE);
  const columns = budgets.map((budget, b) => {
    const read = (name: string) => shares.get(name)?.[b] as readonly number[];
    const means = meanIntervals(names.map(read), clusters, options);
    const comparisons = compareWithBaseline(others.map(read), read(BASELINE), clusters, options);
    return { budget, means, comparisons };
  });
  return names.map((name, a) => ({
    name,
    budgets: columns.map(({ budget, means, comparisons }) => {
      const comparison = comparisons[others.indexOf(name)];
      return { budget, mean: means[a] as Estimate, comparison };
    }),
  }));
}

/** The mean share of each arm by the kind of question, within one of the budgets. */
export function listSharesByKind(shares: ArmShares, questions: readonly ShopQuestion[], budget: number) {
  const kinds = [...new Set(questions.map(({ kind }) => kind))].sort();
  return kinds.map((kind) => {
    const places = questions.flatMap((question, q) => (question.kind === kind ? [q] : []));
    const means = ARMS.map(({ name }) => {
      const own = shares.get(name)?.[budget] as readonly number[];
      return [name, places.reduce((total, q) => total + (own[q] as number), 0) / places.length] as const;
    });
    return { kind, questions: places.length, shares: Object.fromEntries(means) };
  });
}
