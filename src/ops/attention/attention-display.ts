import type * as tf from '@tensorflow/tfjs-core';
import { attachDisplay, buildTableBundle, type MimeBundle, phrase, stateShown } from '../../core/display/display.ts';
import { buildFigureBundle } from '../../model/figures/figure.ts';
import type { RowAttention } from './attention-rows.ts';

/** Cells of a heat map: 100,000 take some 3 MB of a notebook. */
const SHOWN_WEIGHTS = 100_000;

/** The part of a result that is shown. */
interface Weighed {
  /** [B, T] */
  readonly weights: tf.Tensor2D;
}

/** [B, T] as rows, read back when a notebook shows them. */
async function readWeightRows({ weights }: Weighed): Promise<number[][]> {
  const [queries, keys] = weights.shape;
  const values = await weights.data<'float32'>();
  return Array.from({ length: queries }, (_, row) => Array.from(values.subarray(row * keys, (row + 1) * keys)));
}

async function showWeights(attention: Weighed): Promise<MimeBundle> {
  const [queries, keys] = attention.weights.shape;
  const title = `attention weights of ${queries === 1 ? '1 query' : `${queries} queries`} over ${keys} keys`;
  if (attention.weights.isDisposed) return { 'text/plain': `${title}, disposed` };
  if (queries * keys > SHOWN_WEIGHTS) {
    const most = SHOWN_WEIGHTS.toLocaleString('en-US');
    return { 'text/plain': `${title}; a figure shows at most ${most} weights: take a part of them with tf.slice2d` };
  }
  const z = await readWeightRows(attention);
  if (queries === 1) {
    const data = [{ type: 'bar', x: (z[0] as number[]).map((_, key) => key), y: z[0] }];
    return buildFigureBundle({ data, layout: { title, xaxis: { title: 'key' }, yaxis: { title: 'weight' } } });
  }
  const layout = { title, xaxis: { title: 'key' }, yaxis: { title: 'query', autorange: 'reversed' } };
  return buildFigureBundle({ data: [{ type: 'heatmap', z, colorscale: 'Viridis' }], layout });
}

/** Lets a notebook show the weights as a heat map. @returns the same object. */
export function displayAttention<T extends Weighed>(attention: T): T {
  return attachDisplay(attention, showWeights);
}

/** Lets a notebook show how rows were attended to. @returns the same object. */
export function displayRowAttention(attention: RowAttention): RowAttention {
  return attachDisplay(attention, ({ output, method, reason, bandWidth, errorBound }) =>
    buildTableBundle(
      [
        {
          ...{ method: stateShown(method), reason: stateShown(reason), bandWidth, errorBound },
          'numbers of output': output.length,
        },
      ],
      { caption: phrase`ring attention` },
    ),
  );
}
