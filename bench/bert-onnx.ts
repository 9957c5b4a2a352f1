import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnavailableError } from '../src/core/errors/errors.ts';
import { ignoreProgress } from '../src/core/terminal/progress.ts';
import { loadBert } from '../src/index/encoders/bert.ts';
import type { BertOptions, TransformersOptions } from '../src/index/encoders/encoder-options.ts';
import { addModel } from '../src/index/encoders/models/add-model.ts';
import { encoderOptions } from '../src/index/encoders/registry.ts';
import type { PooledEncoder } from '../src/index/encoders/token-encoder.ts';
import { loadTransformers } from '../src/index/encoders/transformers.ts';

/** Milliseconds of a text by both, the fastest of some rounds, and the largest difference of a number. */
export interface OnnxRow {
  readonly pieces: number;
  readonly bert: number;
  readonly onnx: number;
  readonly difference: number;
}

async function timeOnce(encoder: PooledEncoder, text: string) {
  const started = performance.now();
  const [tokens] = await encoder.encodeTokens([text]);
  return { milliseconds: performance.now() - started, ids: tokens!.ids, vectors: tokens!.vectors };
}

/** A text of some pieces, [CLS] and [SEP] included: a is one piece. */
const writeText = (pieces: number) =>
  Array<string>(Math.max(1, pieces - 2))
    .fill('a')
    .join(' ');

/**
 * The encoder `bert` beside `transformers`, which runs onnxruntime, on the weights of one folder, in turn.
 *
 * @param model a folder with ONNX weights in float32.
 * @throws UnavailableError without @huggingface/transformers.
 */
export async function measureOnnx(model: string, lengths: readonly number[], rounds: number): Promise<OnnxRow[]> {
  const cache = mkdtempSync(join(tmpdir(), 'ragpp-bert-onnx-'));
  const before = process.env.RAGPP_CACHE;
  process.env.RAGPP_CACHE = cache;
  const opened: PooledEncoder[] = [];
  try {
    const peer = await loadTransformers(
      encoderOptions.parse({ encoder: 'transformers', model }) as TransformersOptions,
    );
    opened.push(peer);
    await addModel(model, { name: 'twin', progress: ignoreProgress, announce: () => {} });
    const bert = await loadBert(encoderOptions.parse({ encoder: 'bert', model: 'twin' }) as BertOptions);
    opened.push(bert);
    const rows: OnnxRow[] = [];
    for (const length of lengths) {
      const text = writeText(length);
      const best = { bert: Number.POSITIVE_INFINITY, onnx: Number.POSITIVE_INFINITY };
      let [pieces, difference] = [0, 0];
      for (let round = 0; round <= rounds; round++) {
        const [ours, theirs] = [await timeOnce(bert, text), await timeOnce(peer, text)];
        pieces = ours.ids.length;
        for (const [i, value] of theirs.vectors.entries())
          difference = Math.max(difference, Math.abs(value - (ours.vectors[i] as number)));
        if (round === 0) continue; // the first one warms up
        best.bert = Math.min(best.bert, ours.milliseconds);
        best.onnx = Math.min(best.onnx, theirs.milliseconds);
      }
      rows.push({ pieces, ...best, difference });
    }
    return rows;
  } finally {
    for (const encoder of opened) encoder.dispose();
    if (before === undefined) delete process.env.RAGPP_CACHE;
    else process.env.RAGPP_CACHE = before;
    rmSync(cache, { recursive: true });
  }
}

/** Rows of {@link measureOnnx}, or the reason why there are none. */
export async function tryOnnx(...given: Parameters<typeof measureOnnx>): Promise<OnnxRow[] | string> {
  try {
    return await measureOnnx(...given);
  } catch (error) {
    if (error instanceof UnavailableError) return error.message;
    throw error;
  }
}
