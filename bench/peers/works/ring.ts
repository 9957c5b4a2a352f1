import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { useBackend } from '../../../src/core/tensors/backend.ts';
import { bandedRingAttention, DEFAULT_TOLERANCE } from '../../../src/ops/attention/banded-ring-attention.ts';
import { RING_ATTENTION_DEFAULTS } from '../../../src/ops/attention/options.ts';
import { drawClusteredVectors } from '../../clustered-vectors.ts';
import { compareNumbers, type PeerSize, readFloats, readSettings, type WorkGroup, writeSettings } from '../work.ts';

const TURNS: Readonly<Record<PeerSize, readonly number[]>> = {
  small: [1024, 4096],
  published: [1024, 4096, 16_384, 65_536],
};
const DIMENSION = 512;
/** Both sides sum in float32 within a block of the band. */
const TOLERANCE = 1e-6;
const EMBEDDINGS = 'embeddings.f32';

const listWorks = (size: PeerSize) => TURNS[size].map((turns) => `ring-attention/${turns}`);

function attend(embeddings: Float32Array, turns: number) {
  const rows = embeddings.subarray(0, turns * DIMENSION);
  return bandedRingAttention({ turns, queries: rows, keys: rows, values: rows }, RING_ATTENTION_DEFAULTS);
}

/** The peer gets the width of the band of each length, which our side finds by itself. */
async function prepareConversation(folder: string, size: PeerSize, seed: number): Promise<void> {
  await useBackend('wasm');
  const embeddings = drawClusteredVectors(TURNS[size].at(-1)!, DIMENSION, seed, 'turns');
  writeFileSync(join(folder, EMBEDDINGS), embeddings);
  const widths: number[] = [];
  for (const turns of TURNS[size]) widths.push((await attend(embeddings, turns)).bandWidth);
  const { decay, temperature } = RING_ATTENTION_DEFAULTS;
  const settings = { turns: TURNS[size], widths, dimension: DIMENSION, decay, temperature };
  writeSettings(folder, { ...readSettings<object>(folder), ...settings });
}

/** Multiplicative attention of the turns of one conversation on a ring to each other, by a band. */
export const ring: WorkGroup = {
  listWorks,
  peers: [{ name: 'torch', requirements: 'torch-requirements.txt' }],
  describe: (size) =>
    `one conversation of ${TURNS[size].map((turns) => turns.toLocaleString('en')).join(', ')} turns, D ${DIMENSION}, tolerance ${DEFAULT_TOLERANCE.toExponential()}; torch gets the width of the band`,
  prepare: prepareConversation,
  open: async (folder, backend) => {
    await useBackend(backend);
    const embeddings = readFloats(folder, EMBEDDINGS);
    const { turns: lengths } = readSettings<{ readonly turns: readonly number[] }>(folder);
    const works = lengths.map((turns) => {
      const work = async () => {
        const { output } = await attend(embeddings, turns);
        return () => Float64Array.from(output);
      };
      return [`ring-attention/${turns}`, work] as const;
    });
    return Object.fromEntries(works);
  },
  compare: (_work, ours, theirs) => compareNumbers(ours, theirs, TOLERANCE),
};
