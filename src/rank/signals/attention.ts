import { once } from '../../core/values/once.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import { cosineSignal } from './cosine.ts';
import { defineSignal, type Setting, type Signal, type StageUse } from './signal.ts';
import { type AttentionOptions, TRAJECTORY_DEFAULTS, type TrajectoryOptions } from './signal-options.ts';
import { pairFrames } from './trajectory-score.ts';
import { listDistanceReads, type WorldPart } from './worlds/world-parts.ts';

/** Kept, since a loader such as that of tsx asks another thread for each import. */
const loadColumns = once(() => import('./attention-columns.ts'));

/** Attention, and the coordinates that TPO compares; the default ones where they are null. */
export interface AttentionUse {
  readonly attention: AttentionOptions;
  readonly trajectory: TrajectoryOptions | null;
}

const coordinatesUsed = ({ trajectory }: AttentionUse) => trajectory ?? TRAJECTORY_DEFAULTS;

/**
 * True if the mechanism is a directed IRCP, which alone looks forward. Reversed positions leave every ring distance as
 * it is, so the literal one is RCP.
 */
function looksForward({ mechanism, mode }: AttentionOptions): boolean {
  return mode === 'directed' && (mechanism === 'ircp' || mechanism === 'unified');
}

/** What a mechanism reads: order, coordinates, or both in a mix. */
function listAttentionReads(use: AttentionUse): readonly WorldPart[] {
  const { mechanism, mix } = use.attention;
  const readsOrder = mechanism === 'unified' ? mix.rcp + mix.ircp > 0 : mechanism !== 'tpo';
  const readsCoordinates = mechanism === 'unified' ? mix.tpo > 0 : mechanism === 'tpo';
  const parts: WorldPart[] = ['vectors', 'times'];
  if (readsOrder) parts.push('order');
  if (readsCoordinates) parts.push(...listDistanceReads(coordinatesUsed(use)));
  return [...new Set(parts)];
}

/**
 * The log of what each candidate's forward attention sums to before the query, whichever share the mechanism has in a
 * mix.
 */
const logMasses = defineSignal<AttentionUse, { frames: StageUse<QueryFrames> }>({
  name: 'log-masses',
  summary: 'the log of what the forward attention of a candidate sums to before the query',
  module: import.meta.url,
  reads: ['vectors', 'times', 'order'],
  key: ({ attention: { weight: _, mechanism: __, mode: ___, mix: ____, ...key } }) => key,
  inputs: (use, setting) => ({ frames: pairFrames(coordinatesUsed(use), setting) }),
  compute: async (work, use) => (await loadColumns()).computeLogMasses(work, use.attention),
});

function listAttentionInputs(use: AttentionUse, setting: Setting) {
  const masses: { logMasses?: Signal } = looksForward(use.attention) ? { logMasses: logMasses(use) } : {};
  return { frames: pairFrames(coordinatesUsed(use), setting), cosine: cosineSignal(null), ...masses };
}

/** What ring attention between the query and its candidates gives each of them. */
export const attentionSignal = defineSignal<AttentionUse, ReturnType<typeof listAttentionInputs>>({
  name: 'attention',
  summary: 'ring attention between the query and its candidates',
  module: import.meta.url,
  reads: listAttentionReads,
  key: (use) => {
    const { weight: _, ...attention } = use.attention;
    const { weight: __, sigma: ___, ...distances } = coordinatesUsed(use);
    return [attention, distances];
  },
  inputs: listAttentionInputs,
  compute: async (work, use) => (await loadColumns()).computeAttention(work, use.attention, coordinatesUsed(use)),
});
