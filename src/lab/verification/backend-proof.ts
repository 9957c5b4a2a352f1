import * as tf from '@tensorflow/tfjs-core';
import { describeCard, findMisfit, listCards } from '../../core/backends/graphics-card.ts';
import { UnavailableError } from '../../core/errors/errors.ts';
import { getActiveBackend } from '../../core/tensors/active-backend.ts';
import type { NativeBackend } from '../../core/tensors/backend.ts';
import { registerGradients } from '../../core/tensors/gradients.ts';
import { matmul } from '../../core/tensors/matmul.ts';
import { readBack } from '../../core/tensors/scope.ts';
import type { StartProgress } from '../../core/terminal/progress.ts';
import { OWN_GOLDEN, readGolden, type TopicReport, verify } from './verify.ts';

/** Topics that compute with tensors. */
const TOPICS: readonly string[] = ['attention', 'bert', 'conservation', 'late-interaction', 'ppr', 'trajectory'];

/** The largest difference of a gradient in float32 that is no error. */
export const GRADIENT_TOLERANCE = 1e-5;

/** Sizes of X [N, D] and W [D, K]. */
const [N, D, K] = [7, 5, 3] as const;

/** @returns the largest difference of the gradient of sum(exp(X W)) by W, [D, K], from its formula Xᵀ exp(X W). */
export async function measureGradientError(): Promise<number> {
  registerGradients();
  const x = Float64Array.from({ length: N * D }, (_, i) => Math.sin(1 + i) / 4);
  const w = Float64Array.from({ length: D * K }, (_, i) => Math.cos(2 + i));
  const found = await readBack('gradient', () => {
    const inputs = tf.tensor2d(Float32Array.from(x), [N, D]);
    const gradient = tf.grad((weights) => tf.sum(tf.exp(matmul(inputs, weights as tf.Tensor2D))));
    return gradient(tf.tensor2d(Float32Array.from(w), [D, K]));
  });
  const expected = new Float64Array(D * K);
  for (let n = 0; n < N; n++)
    for (let k = 0; k < K; k++) {
      let product = 0;
      for (let d = 0; d < D; d++) product += (x[n * D + d] as number) * (w[d * K + k] as number);
      for (let d = 0; d < D; d++) expected[d * K + k]! += (x[n * D + d] as number) * Math.exp(product);
    }
  return Math.max(...expected.map((value, i) => Math.abs(value - (found[i] as number))));
}

/**
 * The device of the active backend: `libtensorflow 2.21.0, NVIDIA H100, 81559 MiB, …`.
 *
 * @throws UnavailableError for a card that `cuda` does not use.
 */
export function describeDevice(): string {
  const { name, libtensorflow } = getActiveBackend();
  const library = libtensorflow === undefined ? [] : [`libtensorflow ${libtensorflow}`];
  const device = name === 'cuda' ? describeCuda() : name === 'webgpu' ? describeAdapter() : 'the processor';
  return [...library, device].join(', ');
}

/** The vendor and the architecture that the driver reports. */
function describeAdapter(): string {
  const { adapterInfo } = tf.backend() as unknown as {
    readonly adapterInfo: { readonly vendor: string; readonly architecture: string };
  };
  return `adapter ${adapterInfo.vendor} ${adapterInfo.architecture}`.trim();
}

function describeCuda(): string {
  const cards = listCards();
  if ((tf.backend() as NativeBackend).isUsingGpuDevice)
    return cards.length === 0 ? 'a card' : cards.map(describeCard).join('; ');
  const [card] = cards;
  if (card === undefined) return 'no card was found: computes on the processor';
  const reason =
    findMisfit(card) ??
    'a library of CUDA could not be loaded; TF_CPP_MIN_LOG_LEVEL=0 ragpp backend check cuda names it';
  throw new UnavailableError('backend cuda', `TensorFlow does not use ${describeCard(card)}: ${reason}`);
}

/** Golden cases on the active backend that show whether it computes what it should. */
export function verifyTensors(progress: StartProgress): Promise<TopicReport[]> {
  const files = readGolden(OWN_GOLDEN).filter(({ topic }) => TOPICS.includes(topic));
  return verify(files, progress);
}
