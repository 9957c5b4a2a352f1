import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { decodeHalfFloats } from '../../core/numbers/half-floats.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import {
  assertWeights,
  joinWeightsPath,
  loadPeer,
  MAIN_FILE,
  type Model,
  type ModelTensor,
} from '../../index/encoders/transformers/model-files.ts';
import type { Workspace } from '../signals/workspace.ts';
import type { CrossEncoderOptions, ScoreTop } from './column-options.ts';

/** A query and a text that a model scores together. */
export interface TextPair {
  readonly query: string;
  readonly text: string;
}

/** Turns the texts of a batch, and those that they are paired with, into what a model takes. */
export type PairTokeniser = (
  queries: readonly string[],
  how: Readonly<Record<string, unknown>>,
) => Readonly<Record<string, ModelTensor>>;

/** A model that scores pairs of texts, with its tokeniser. */
export interface PairModel {
  readonly tokeniser: PairTokeniser;
  readonly model: Model;
}

/**
 * Opens a model of a local folder on the processor; nothing is downloaded.
 *
 * @throws UnavailableError when the optional peer, the folder or its weights are missing, each with what to do.
 */
export async function openPairModel({
  model,
  dtype,
}: Pick<CrossEncoderOptions, 'model' | 'dtype'>): Promise<PairModel> {
  const peer = await loadPeer('reranker cross-encoder');
  const folder = resolve(model);
  if (!existsSync(join(folder, MAIN_FILE)))
    throw new UnavailableError(
      `model ${model}`,
      `there is no ${MAIN_FILE} in ${folder}; copy a cross-encoder with ONNX weights to this folder`,
    );
  assertWeights(folder, dtype);
  const hasOwnData = existsSync(join(folder, `${joinWeightsPath(dtype)}_data`));
  const given = {
    local_files_only: true,
    dtype,
    device: 'cpu',
    ...(hasOwnData ? { use_external_data_format: true } : {}),
  };
  return {
    tokeniser: (await peer.AutoTokenizer.from_pretrained(folder, {
      local_files_only: true,
    })) as unknown as PairTokeniser,
    model: await peer.AutoModelForSequenceClassification.from_pretrained(folder, given),
  };
}

function readFloats({ type, data }: ModelTensor): ArrayLike<number> {
  return type === 'float16' && data instanceof Uint16Array ? decodeHalfFloats(data) : (data as ArrayLike<number>);
}

/** One score for each pair of a batch, in (0, 1). */
function readScores(outputs: Readonly<Record<string, ModelTensor | undefined>>, count: number): number[] {
  const { logits } = outputs;
  if (logits === undefined || logits.dims[0] !== count || logits.dims[1] !== 1)
    throw new ValidationError(
      `the model gives ${Object.entries(outputs)
        .map(([name, tensor]) => `${name} [${tensor?.dims}]`)
        .join(', ')}, expected logits [${count},1]; use a cross-encoder with one score for a pair`,
    );
  return Array.from(readFloats(logits), (logit) => 1 / (1 + Math.exp(-logit)));
}

/**
 * The scores of pairs of texts, in their order: the logistic function of the model's logit.
 *
 * @throws ValidationError for a model that does not give one logit for a pair.
 */
export async function scorePairs(
  { tokeniser, model }: PairModel,
  pairs: readonly TextPair[],
  { maxTokens, batchSize }: Pick<CrossEncoderOptions, 'maxTokens' | 'batchSize'>,
): Promise<Float32Array> {
  const scores = new Float32Array(pairs.length);
  for (let first = 0; first < pairs.length; first += batchSize) {
    const batch = pairs.slice(first, first + batchSize);
    const inputs = tokeniser(
      batch.map(({ query }) => query),
      { text_pair: batch.map(({ text }) => text), padding: true, truncation: true, max_length: maxTokens },
    );
    const outputs = await model(inputs);
    try {
      scores.set(readScores(outputs, batch.length), first);
    } finally {
      for (const tensor of [...Object.values(inputs), ...Object.values(outputs)]) tensor?.dispose();
    }
    await letEventsIn();
  }
  return scores;
}

/** Scores of each query and its best candidates by a model, which the workspace keeps. */
export async function openPairScores(workspace: Workspace, options: CrossEncoderOptions): Promise<ScoreTop> {
  const { model, dtype } = options;
  const opened = await workspace.shared.keepOnce(['cross-encoder', model, dtype], async () => {
    const pairModel = await openPairModel(options);
    return { ...pairModel, dispose: () => void pairModel.model.dispose() };
  });
  return async ({ positions, depth }, first) => {
    const slots = [...positions.keys()].filter((slot) => (positions[slot] as number) >= 0);
    const pairs = slots.map((slot) => ({
      query: workspace.queries[first + Math.floor(slot / depth)]?.text as string,
      text: workspace.corpus.turns[positions[slot] as number]?.text as string,
    }));
    const scores = await scorePairs(opened, pairs, options);
    const column = new Float32Array(positions.length);
    for (const [i, slot] of slots.entries()) column[slot] = scores[i] as number;
    return column;
  };
}
