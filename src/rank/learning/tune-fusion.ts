import { RagPlusPlusError, ValidationError } from '../../core/errors/errors.ts';
import { type EvaluationOptions, evaluate } from '../../eval/metrics/evaluate.ts';
import { parseMean } from '../../eval/metrics/metric.ts';
import type { Qrels, Run } from '../../model/run.ts';
import { NORMALISATIONS } from '../../ops/fusion/combination.ts';
import { type FusionOptions, fuseColumns, parseFusion } from '../../ops/fusion/registry.ts';
import { type AlignedLists, alignLists, rankFused } from '../../ops/fusion/score-columns.ts';

/** What is tuned on, and among what. */
export interface FusionTuningOptions {
  /** The queries to tune on: those of the training conversations. Rankings and judgements of no other query are read. */
  readonly training: Iterable<string>;
  /** The metric to maximise. */
  readonly metric?: string;
  /** The fusions to try, in this order; by default {@link listFusionCandidates}. Of equal values the first one wins. */
  readonly candidates?: readonly FusionOptions[];
  /** The lowest relevant grade. */
  readonly relevantGrade?: number;
}

/** A fusion that was tried. */
export interface TriedFusion {
  readonly fusion: FusionOptions;
  /** The mean of the metric over the training queries; null if the fusion could not be computed. */
  readonly value: number | null;
  /** Why it could not be computed. */
  readonly failure: string | null;
}

/** The result of tuning a fusion on training queries: the chosen fusion, its mean of the metric, and every fusion that was tried. */
export interface FusionTuning {
  readonly chosen: FusionOptions;
  readonly value: number;
  readonly metric: string;
  /** The training queries with a relevant document: those that the values are means over. */
  readonly queries: readonly string[];
  /** Every candidate, in the order in which it was tried. */
  readonly tried: readonly TriedFusion[];
}

/** Weights of S sources that sum to 1 in steps, all above 0: S = 2 in tenths, 3 in fifths, none for more. */
function listWeights(sources: readonly string[]): Record<string, number>[] {
  const steps = sources.length === 2 ? 10 : sources.length === 3 ? 5 : 0;
  const parts: number[][] = [];
  const extend = (given: readonly number[], left: number) => {
    if (given.length === sources.length - 1) parts.push([...given, left]);
    else
      for (let own = 1; own <= left - (sources.length - given.length - 1); own++) extend([...given, own], left - own);
  };
  if (steps > 0) extend([], steps);
  return parts.map((counts) => Object.fromEntries(counts.map((count, s) => [sources[s] as string, count / steps])));
}

/**
 * Every fusion of lists with a grid of its parameters: the methods and normalisations of ranx, weights for two or three sources.
 *
 * @param sources the names of the lists.
 */
export function listFusionCandidates(sources: readonly string[]): FusionOptions[] {
  const scales = NORMALISATIONS.names.filter((name) => name !== 'none');
  const weights = listWeights(sources);
  const written: Record<string, unknown>[] = [
    ...[60, 10, 30, 100].map((k) => ({ method: 'rrf', k })),
    ...['combsum', 'combmnz', 'combmax', 'combmin', 'combmed', 'combanz'].flatMap((method) =>
      scales.map((normalisation) => ({ method, normalisation })),
    ),
    ...[0.5, 2].flatMap((gamma) => scales.map((normalisation) => ({ method: 'combgmnz', gamma, normalisation }))),
    ...['isr', 'log_isr', 'bordafuse'].map((method) => ({ method })),
    ...[0.01, 0.1, 1].map((sigma) => ({ method: 'logn_isr', sigma })),
    ...[0.5, 0.8, 0.9, 0.95].map((phi) => ({ method: 'rbc', phi })),
    ...['min-max', 'zmuv', 'rank'].flatMap((normalisation) =>
      ['wsum', 'wmnz'].flatMap((method) => weights.map((own) => ({ method, normalisation, weights: own }))),
    ),
    ...weights.map((own) => ({ method: 'w_bordafuse', weights: own })),
  ];
  return written.map((options) => parseFusion(options, 'a candidate of tuneFusion'));
}

function alignTraining(runs: ReadonlyMap<string, Run>, queryIds: readonly string[]): Map<string, AlignedLists> {
  return new Map(
    queryIds.map((queryId) => {
      const lists = Array.from(runs, ([name, run]) => [name, run.get(queryId) ?? []] as const);
      return [queryId, alignLists(Object.fromEntries(lists))];
    }),
  );
}

function tryFusion(
  aligned: ReadonlyMap<string, AlignedLists>,
  measure: (run: Run) => number,
  fusion: FusionOptions,
): TriedFusion {
  try {
    const fused = Array.from(
      aligned,
      ([queryId, { ids, columns }]) => [queryId, rankFused(ids, fuseColumns(columns, fusion))] as const,
    );
    return { fusion, value: measure(new Map(fused)), failure: null };
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    return { fusion, value: null, failure: error.message };
  }
}

/** The judgements of the training queries alone. */
function selectJudgements(qrels: Qrels, training: Iterable<string>): Map<string, ReadonlyMap<string, number>> {
  const selected = new Map<string, ReadonlyMap<string, number>>();
  for (const queryId of training) {
    const judgements = qrels.get(queryId);
    if (judgements !== undefined) selected.set(queryId, judgements);
  }
  return selected;
}

/**
 * Chooses method, normalisation and parameters of a fusion: the candidate with the largest mean of a metric over training queries. O(candidates x queries x
 * sources x depth).
 *
 * @param runs rankings by the name of their source.
 * @throws ValidationError without two runs, without a training query that has a relevant document, for an unknown metric, and if no candidate can be computed.
 */
export function tuneFusion(runs: ReadonlyMap<string, Run>, qrels: Qrels, options: FusionTuningOptions): FusionTuning {
  const {
    training,
    metric = 'ndcg@10',
    candidates = listFusionCandidates([...runs.keys()]),
    relevantGrade = 1,
  } = options;
  if (runs.size < 2) throw new ValidationError(`tuneFusion has ${runs.size} runs; pass at least 2`);
  const judged = selectJudgements(qrels, training);
  const { id } = parseMean(metric);
  const judging: EvaluationOptions = { relevantGrade, unanswerable: 'apart', holeDepth: 10 };
  const { queryIds } = evaluate(new Map(), judged, [], judging);
  if (queryIds.length === 0)
    throw new ValidationError(
      `none of ${judged.size} judged training queries has a relevant document; pass the ids of training queries`,
    );
  const aligned = alignTraining(runs, queryIds);
  const measure = (run: Run) => {
    const values = evaluate(run, judged, [id], judging).values[id] as readonly number[];
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const tried = candidates.map((fusion) => tryFusion(aligned, measure, fusion));
  return { ...chooseBest(tried), metric: id, queries: queryIds, tried };
}

function chooseBest(tried: readonly TriedFusion[]): { readonly chosen: FusionOptions; readonly value: number } {
  let best: { readonly chosen: FusionOptions; readonly value: number } | undefined;
  for (const { fusion, value } of tried)
    if (value !== null && (best === undefined || value > best.value)) best = { chosen: fusion, value };
  if (best === undefined)
    throw new ValidationError(
      `none of ${tried.length} candidates could be computed: ${tried[0]?.failure ?? 'there is none'}; pass others`,
    );
  return best;
}
