import { verify } from 'node:crypto';
import { formatCanonicalJson } from '../src/kernel/signatures/canonical-json.ts';
import { generateKey } from '../src/kernel/signatures/kernel-keys.ts';
import { readPublicKey } from '../src/kernel/signatures/public-key.ts';
import { isSignedBy, readPayload, Signer } from '../src/kernel/signatures/signature.ts';
import type { SliceExport } from '../src/kernel/signatures/slice-export.ts';
import { walkSlice } from '../src/kernel/slices/slice-walk.ts';
import { TurnGraph } from '../src/kernel/slices/turn-graph.ts';
import {
  buildBenchPolicy,
  drawAnchors,
  type KernelData,
  openBenchKernel,
  type Percentiles,
  summarisePercentiles,
} from './kernel-data.ts';

/** The parts of a slice within one process, each by itself. */
export interface SigningFigures {
  /** The turns of the slice that is signed and verified. */
  readonly turns: number;
  readonly parts: Readonly<Record<string, Percentiles>>;
}

const WARM_UP = 300;

function time(repeats: number, work: (round: number) => unknown): Percentiles {
  for (let round = 0; round < Math.min(WARM_UP, repeats); round++) work(round);
  const times = new Float64Array(repeats);
  for (let round = 0; round < repeats; round++) {
    const before = performance.now();
    work(round);
    times[round] = performance.now() - before;
  }
  return summarisePercentiles(times);
}

export async function measureSigning(
  task: Omit<KernelData, 'cacheEntries'> & { readonly repeats: number },
): Promise<SigningFigures> {
  const { kernel, corpus } = openBenchKernel({ ...task, cacheEntries: 0 });
  const graph = new TurnGraph(corpus);
  const policy = buildBenchPolicy(task.maxNodes);
  const anchors = drawAnchors(task.turns, task.repeats, task.seed);
  const asOf = Date.UTC(2100, 0, 1);
  const made = await kernel.slice({ policyRef: kernel.policyRefs[0]!, scope: { anchorTurnId: anchors[0]! }, asOf });
  const slice = JSON.parse(JSON.stringify(made)) as SliceExport; // as a client holds it: texts of JSON are stored in one piece
  const signer = new Signer(generateKey());
  const payload = readPayload(slice);
  const publicKey = readPublicKey(kernel.keys[0]!.publicKey);
  const [text, signature] = [Buffer.from(formatCanonicalJson(payload)), Buffer.from(slice.signature, 'hex')];
  const { repeats } = task;
  return {
    turns: slice.turnIds.length,
    parts: {
      walk: time(repeats, (round) =>
        walkSlice({ graph, policy, anchors: [corpus.getPosition(anchors[round]!)], cutoff: corpus.size }),
      ),
      'canonical JSON': time(repeats, () => formatCanonicalJson(payload)),
      'sign, with token and fingerprint': time(repeats, () => signer.sign(payload)),
      'check of the token': time(repeats, () => signer.hasMade(slice)),
      'offline check, public key': time(repeats, () => isSignedBy(slice, publicKey)),
      'crypto.verify alone': time(repeats, () => verify(null, text, publicKey, signature)),
    },
  };
}
