import { join } from 'node:path';
import { computeHash } from '../../src/core/hash/hash.ts';
import { letEventsIn, type StartProgress } from '../../src/core/terminal/progress.ts';
import { loadDataset } from '../../src/data/registry.ts';
import { createCachedEncoder } from '../../src/index/encoders/embedding-cache.ts';
import { createEncoderSource } from '../../src/index/encoders/registry.ts';
import type { Environment } from '../../src/lab/measure/result.ts';
import { captureEnvironment } from '../../src/lab/run/environment.ts';
import type { RunContext } from '../../src/lab/run/run.ts';
import type { Dataset } from '../../src/model/dataset.ts';
import type { Turn } from '../../src/model/turns/turn.ts';
import { type Drift, findBusySpan, measureDrifts, type Span } from './drift.ts';
import { listDayEnds, type Replay, replay } from './replay.ts';
import { createRetentions } from './retention.ts';
import type { DriftSettings } from './settings.ts';

export const NAME = 'conservation-drift';

export interface PolicyResult extends Replay {
  readonly drifts: readonly Drift[];
}

export interface DriftResult {
  readonly hash: string;
  readonly settings: DriftSettings;
  readonly environment: Environment;
  readonly dataset: { readonly name: string; readonly hash: string; readonly licence: string };
  readonly messages: number;
  /** Messages without a word that the encoder knows: their vectors are zero. */
  readonly zeroVectors: number;
  readonly dimension: number;
  readonly span: Span;
  /** The time of the first conversation that the encoder was not fitted on; null if it was fitted on all. */
  readonly unfittedFrom: number | null;
  readonly policies: readonly PolicyResult[];
}

type DriftContext = Required<Omit<RunContext, 'armsAtOnce'>>;

/** True if the encoder may be fitted on a turn. */
function isFitted({ devConversations }: Dataset, { fit }: DriftSettings, turn: Turn): boolean {
  return fit === 'all' || devConversations.has(turn.conversationId);
}

/** The vectors of all turns. */
async function embed(dataset: Dataset, settings: DriftSettings, context: DriftContext) {
  const { corpus } = dataset;
  const { cacheFolder, progress } = context;
  const fitTexts = corpus.turns.filter((turn) => isFitted(dataset, settings, turn)).map(({ text }) => text);
  const source = createEncoderSource(settings.embedding, { fitTexts, seed: settings.seed });
  const encoder = await createCachedEncoder(source, join(cacheFolder, 'embeddings'), progress);
  try {
    const texts = corpus.turns.map(({ text }) => text);
    return { embeddings: await encoder.encode(texts, progress), dimension: encoder.dimension };
  } finally {
    encoder.dispose();
  }
}

async function replayAll(
  dataset: Dataset,
  embeddings: Float32Array,
  settings: DriftSettings,
  progress: StartProgress,
): Promise<Replay[]> {
  const replays: Replay[] = [];
  for (const retention of createRetentions(dataset.corpus, settings)) {
    await letEventsIn();
    const stage = progress(`replay: ${retention.name}`, listDayEnds(dataset.corpus).length);
    const done = replay(dataset.corpus, embeddings, retention, (days) => stage.update(days));
    stage.finish(`${done.samples.length} days, ${done.tally.added + done.tally.removed} operations`);
    replays.push(done);
  }
  return replays;
}

function countZeroRows(embeddings: Float32Array, dimension: number): number {
  let zeros = 0;
  for (let start = 0; start < embeddings.length; start += dimension)
    if (embeddings.subarray(start, start + dimension).every((value) => value === 0)) zeros++;
  return zeros;
}

/** Replays a corpus of conversations under each retention policy and follows what the memory conserves. */
export async function measureConservationDrift(settings: DriftSettings, context: DriftContext): Promise<DriftResult> {
  const { backend, cacheFolder, command, progress } = context;
  const dataset = await loadDataset(settings.dataset, { cacheFolder: join(cacheFolder, 'datasets'), progress });
  const { corpus } = dataset;
  const span = findBusySpan(corpus, listDayEnds(corpus), settings);
  const { embeddings, dimension } = await embed(dataset, settings, context);
  const replays = await replayAll(dataset, embeddings, settings, progress);
  const unfitted = corpus.turns.find((turn) => !isFitted(dataset, settings, turn));
  return {
    hash: computeHash([settings, dataset.hash, backend]).slice(0, 12),
    settings,
    environment: captureEnvironment(backend, settings.seed, command),
    dataset: { name: dataset.name, hash: dataset.hash, licence: dataset.declaration.licence },
    messages: corpus.size,
    zeroVectors: countZeroRows(embeddings, dimension),
    dimension,
    span,
    unfittedFrom: unfitted?.timestamp ?? null,
    policies: replays.map((one) => ({ ...one, drifts: measureDrifts(one, span, settings.retentionDays) })),
  };
}
