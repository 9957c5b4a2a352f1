import type { StartProgress } from '../../src/core/terminal/progress.ts';
import { buildUnchangingRows, FlatIndex } from '../../src/index/vectors/flat.ts';
import type { Candidates } from '../../src/model/candidates.ts';
import { embedTurns } from '../embed-turns.ts';
import type { StudyContext } from '../study.ts';
import { countObserved, type OutcomeSeries } from './outcome-series.ts';
import type { PriorCalibrationSettings } from './settings.ts';

/** The neighbours of a query that states no number. */
export const DEFAULT_K = 10;

async function search(
  { turns }: OutcomeSeries,
  observed: Int32Array,
  { vectors, dimension }: { readonly vectors: Float32Array; readonly dimension: number },
  k: number,
  progress: StartProgress,
): Promise<Candidates> {
  const index = new FlatIndex(
    turns.map(({ id }) => id),
    buildUnchangingRows(vectors, dimension),
  );
  try {
    const texts = turns.map(({ text }) => text);
    return await index.search({ texts, vectors, cutoffs: observed }, k, progress);
  } finally {
    index.dispose();
  }
}

/** A series with the nearest turns of each turn among those whose outcome is known by then. */
export interface NeighbourSeries {
  readonly series: OutcomeSeries;
  /** [turns] how many outcomes are known at each. */
  readonly observed: Int32Array;
  /** [turns, k] places in the series, nearest first, and cosines. */
  readonly neighbours: Candidates;
}

/** Finds the nearest turns of every turn exactly, by cosine. */
export async function findNeighbours(
  series: OutcomeSeries,
  settings: PriorCalibrationSettings,
  context: StudyContext,
): Promise<NeighbourSeries> {
  const observed = countObserved(series);
  const texts = series.turns.map(({ text }) => text);
  const fitTexts = series.turns.filter(({ dev }) => dev).map(({ text }) => text);
  const embedded = await embedTurns(texts, fitTexts, settings, context);
  const k = Math.max(DEFAULT_K, ...settings.neighbours);
  return { series, observed, neighbours: await search(series, observed, embedded, k, context.progress) };
}
