import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ChecksumMismatchError, ValidationError } from '../../../core/errors/errors.ts';
import { readText } from '../../../core/files/files.ts';
import { parse } from '../../../core/validation/validation.ts';
import { freezeDeeply } from '../../../core/values/once.ts';
import type { TextOwner } from '../../../model/encoder.ts';

/** Ways of making one vector of the vectors of tokens. */
export const POOLING_MODES = freezeDeeply([
  'mean',
  'cls',
  'max',
  'lasttoken',
  'weightedmean',
  'mean-sqrt-length',
] as const);
/** The ways to make one vector of a text from the vectors of its tokens. */
export type PoolingMode = (typeof POOLING_MODES)[number];

/**
 * One vector of the vectors of a text's tokens, in float64 sums, not scaled.
 *
 * `mean` = sum / T; `mean-sqrt-length` = sum / sqrt(T); `weightedmean` weighs token t = 1..T by t; `max` takes the
 * largest value of each component; `cls` the first token, `lasttoken` the last.
 *
 * Reimers, Gurevych 2019, "Sentence-BERT"; Muennighoff 2022, "SGPT", for the weighted mean.
 *
 * @param tokens row-major [T, D], T at least 1
 * @returns [D]
 */
export function poolTokens(tokens: Float32Array, dimension: number, mode: PoolingMode): Float32Array {
  const count = tokens.length / dimension;
  if (mode === 'cls') return tokens.slice(0, dimension);
  if (mode === 'lasttoken') return tokens.slice(tokens.length - dimension);
  const sums = new Float64Array(dimension).fill(mode === 'max' ? Number.NEGATIVE_INFINITY : 0);
  for (let t = 0, at = 0; t < count; t++) {
    const weight = mode === 'weightedmean' ? t + 1 : 1;
    for (let d = 0; d < dimension; d++, at++) {
      const value = tokens[at] as number;
      sums[d] = mode === 'max' ? Math.max(sums[d] as number, value) : (sums[d] as number) + weight * value;
    }
  }
  const divisor = {
    mean: count,
    max: 1,
    weightedmean: (count * (count + 1)) / 2,
    'mean-sqrt-length': Math.sqrt(count),
  };
  return Float32Array.from(sums, (sum) => sum / divisor[mode]);
}

/** How a model makes a vector of a text, as the files of its folder say. */
export interface ModelSettings {
  /** Null if the folder has no module that pools. */
  readonly pooling: PoolingMode | null;
  /** True if the tokens of a prompt are pooled with those of the text. */
  readonly includePrompt: boolean;
  /** A longer text is cut, its special tokens kept; null if no file limits it. */
  readonly maxTokens: number | null;
  readonly lowerCase: boolean;
  /** True if the model's own vectors have length 1. Those of the encoder always do. */
  readonly normalised: boolean;
  /** Written before a text, by the kind of its owner. */
  readonly prompts: Readonly<Record<TextOwner['kind'], string>>;
}

const modules = z.array(z.looseObject({ path: z.string(), type: z.string() }));
const bertConfig = z.looseObject({
  max_seq_length: z.int().min(1).nullish(),
  do_lower_case: z.boolean().nullish(),
});
const tokeniserConfig = z.looseObject({ model_max_length: z.number().nullish() });
const modelConfig = z.looseObject({ max_position_embeddings: z.int().min(1).nullish() });
const promptConfig = z.looseObject({
  prompts: z.record(z.string(), z.string()).nullish(),
  default_prompt_name: z.string().nullish(),
});
const poolingConfig = z.looseObject({
  pooling_mode: z.string().nullish(),
  include_prompt: z.boolean().nullish(),
});

/** Beside `1_Pooling/config.json`, which `modules.json` names. */
export const SETTINGS_FILES = [
  'modules.json',
  'sentence_bert_config.json',
  'config_sentence_transformers.json',
  'tokenizer_config.json',
  'config.json',
] as const;

/** The modules of sentence-transformers that the encoder applies, by the last part of their type. */
const APPLIED_MODULES = ['Transformer', 'Pooling', 'Normalize'];

/** `tokenizer_config.json` writes 10^30 for no limit. */
const NO_LIMIT = 1e9;

/** The names of prompts in `config_sentence_transformers.json`, the first that is there. */
const PROMPT_NAMES = { query: ['query'], turn: ['document', 'passage', 'corpus'] } as const;

/** The content of a JSON file of the folder; null where there is none. */
function readJson<S extends z.ZodType>(folder: string, name: string, schema: S): z.output<S> | null {
  const path = join(folder, name);
  if (!existsSync(path)) return null;
  let value: unknown;
  try {
    value = JSON.parse(readText(path));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ChecksumMismatchError(path, 'it is not JSON', 'download the model again');
  }
  return parse(schema, value, path);
}

/**
 * The file of the pooling module, null where the folder names none.
 *
 * @throws ValidationError for a module outside the folder: a download would write there.
 */
export function findPoolingFile(folder: string): string | null {
  const pooling = readJson(folder, 'modules.json', modules)?.find(({ type }) => nameModule(type) === 'Pooling');
  if (pooling === undefined) return null;
  if (/^([/\\]|[a-z]:)|(^|[/\\])\.\.([/\\]|$)/i.test(pooling.path))
    throw new ValidationError(
      `${join(folder, 'modules.json')} names a module outside the folder: ${pooling.path}; use another model`,
      { folder, path: pooling.path },
    );
  return join(pooling.path, 'config.json');
}

function nameModule(type: string): string {
  return type.split('.').at(-1) as string;
}

/**
 * Reads pooling, normalisation, maximal length and prompts as sentence-transformers does: `modules.json`, the
 * `config.json` of the pooling module, `sentence_bert_config.json`, `config_sentence_transformers.json`,
 * `tokenizer_config.json` and `config.json`.
 *
 * @throws ValidationError for a module or a pooling mode that the encoder does not apply; ConfigurationError and
 * ChecksumMismatchError for a file with other content.
 */
export function readModelSettings(folder: string): ModelSettings {
  const listed = readJson(folder, 'modules.json', modules) ?? [];
  const other = listed.find(({ type }) => !APPLIED_MODULES.includes(nameModule(type)));
  if (other !== undefined)
    throw new ValidationError(
      `model ${folder} has a module that the encoder does not apply: ${nameModule(other.type)}; compute its vectors in Python and use encoder precomputed`,
      { folder, module: other.type },
    );
  const poolingFile = findPoolingFile(folder);
  const pooling = poolingFile === null ? null : readJson(folder, poolingFile, poolingConfig);
  const bert = readJson(folder, 'sentence_bert_config.json', bertConfig);
  return {
    pooling: pooling === null ? null : findPoolingMode(join(folder, poolingFile as string), pooling),
    includePrompt: pooling?.include_prompt ?? true,
    maxTokens: bert?.max_seq_length ?? readOwnLimit(folder),
    lowerCase: bert?.do_lower_case ?? false,
    normalised: listed.some(({ type }) => nameModule(type) === 'Normalize'),
    prompts: readPrompts(folder),
  };
}

/** The least of the limits of tokeniser and model. */
function readOwnLimit(folder: string): number | null {
  const tokeniser = readJson(folder, 'tokenizer_config.json', tokeniserConfig)?.model_max_length ?? NO_LIMIT;
  const model = readJson(folder, 'config.json', modelConfig)?.max_position_embeddings ?? NO_LIMIT;
  const limit = Math.min(tokeniser, model);
  return limit >= NO_LIMIT ? null : limit;
}

function readPrompts(folder: string): ModelSettings['prompts'] {
  const { prompts, default_prompt_name: fallback } =
    readJson(folder, 'config_sentence_transformers.json', promptConfig) ?? {};
  const find = (kind: TextOwner['kind']) => {
    const name = [...PROMPT_NAMES[kind], ...(fallback ? [fallback] : [])].find((one) => prompts?.[one] !== undefined);
    return name === undefined ? '' : (prompts?.[name] as string);
  };
  return { query: find('query'), turn: find('turn') };
}

/** The mode by its name, or by the one flag `pooling_mode_<mode>` that is set. */
function findPoolingMode(file: string, config: z.output<typeof poolingConfig>): PoolingMode {
  const flags = Object.entries(config).filter(([key, value]) => key.startsWith('pooling_mode_') && value === true);
  const names = config.pooling_mode ? [config.pooling_mode] : flags.map(([key]) => key.slice('pooling_mode_'.length));
  const modes = names.map((name) => POOLING_MODES.find((mode) => name === mode || name === FLAGS[mode]));
  const [mode] = modes;
  if (mode === undefined || modes.length > 1)
    throw new ValidationError(
      `${file} sets the pooling ${names.join(', ') || '(none)'}, expected one of ${POOLING_MODES.join(', ')}; use another model, or precomputed vectors`,
      { file },
    );
  return mode;
}

/** What sentence-transformers calls the modes in its flags. */
const FLAGS: Readonly<Record<PoolingMode, string>> = {
  mean: 'mean_tokens',
  cls: 'cls_token',
  max: 'max_tokens',
  lasttoken: 'lasttoken',
  weightedmean: 'weightedmean_tokens',
  'mean-sqrt-length': 'mean_sqrt_len_tokens',
};
