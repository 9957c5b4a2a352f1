import { createEventBreaks } from '../../core/terminal/progress.ts';
import type { CheckedRows, RingSpan } from './attention-rows.ts';
import { BandKernel, WINDOW_STEPS } from './band-kernel.ts';
import { FarField, orderLike, splitQueryBlocks } from './far-field.ts';
import { MASKED, type RingAttentionOptions } from './options.ts';

/** Adds the far field to the band of a tile, divides, and writes the rows where they belong. */
function writeTile(
  output: Float32Array,
  tile: RingSpan,
  kernel: BandKernel,
  farField: FarField,
  { valueWidth, order, ringPositions }: CheckedRows,
  options: RingAttentionOptions,
): void {
  const isAdditive = options.combine === 'additive';
  for (const lane of orderLike([...Array(tile.count).keys()], options)) {
    farField.moveTo(ringPositions[tile.first + lane] as number);
    const { mass, largest } = kernel.readMass(lane);
    if (isAdditive ? largest <= MASKED / 2 : farField.count === 0) continue;
    const far = isAdditive ? 0 : Math.exp(-largest);
    const row = kernel.finishRow(lane, farField.sum, far, 1 / (far * farField.count + mass));
    output.set(row, (order[tile.first + lane] as number) * valueWidth);
  }
}

/**
 * The band by a kernel of WebAssembly on the host, which needs no backend; on wasm the bytes of tensors.
 *
 * @returns [Q, V]
 */
export async function computeHostBand(
  rows: CheckedRows,
  width: number,
  options: RingAttentionOptions,
): Promise<Float32Array> {
  const { valueWidth, ringPositions } = rows;
  const output = new Float32Array(ringPositions.length * valueWidth);
  const farField = new FarField(rows, options);
  const kernel = new BandKernel(rows, width, options);
  const takeBreak = createEventBreaks();
  for (const queries of splitQueryBlocks(ringPositions, WINDOW_STEPS, options)) {
    await takeBreak();
    kernel.openWindow(queries);
    for (const tile of orderLike(kernel.splitIntoTiles(queries), options)) {
      kernel.attendTile(tile);
      writeTile(output, tile, kernel, farField, rows, options);
    }
  }
  return output;
}
