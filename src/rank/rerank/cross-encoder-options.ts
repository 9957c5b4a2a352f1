import { z } from 'zod';
import { WEIGHT_SUFFIXES, type WeightType } from '../../index/encoders/transformers/model-files.ts';
import { columnOptions } from './column-options.ts';

const options = z.strictObject({
  method: z.literal('cross-encoder'),
  ...columnOptions,
  /** A folder with the ONNX weights of a model that scores a pair of texts; nothing is downloaded. */
  model: z.string().min(1),
  dtype: z.enum(Object.keys(WEIGHT_SUFFIXES) as [WeightType, ...WeightType[]]).default('fp32'),
  /** Tokens of query and turn together; what is longer is cut. */
  maxTokens: z.int().min(8).default(512),
  batchSize: z.int().min(1).default(16),
});
/** The folder of a cross-encoder and how its pairs are cut and batched. */
export type CrossEncoderOptions = z.output<typeof options>;

export const crossEncoder = {
  options,
  description:
    'the candidates that a model of pairs of texts scores highest, by the optional package @huggingface/transformers',
};
