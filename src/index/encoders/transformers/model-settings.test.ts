import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ChecksumMismatchError, ConfigurationError, ValidationError } from '../../../core/errors/errors.ts';
import { readModelSettings } from './model-settings.ts';

const root = mkdtempSync(join(tmpdir(), 'model-settings-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A folder with these files, of the content that is written as JSON. */
function writeModel(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(join(root, 'm'));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

const module = (kind: string, path = '') => ({ idx: 0, name: '0', path, type: `sentence_transformers.models.${kind}` });
const POOLED = [module('Transformer'), module('Pooling', '1_Pooling'), module('Normalize', '2_Normalize')];
const readPooling = (config: object) =>
  readModelSettings(writeModel({ 'modules.json': POOLED, '1_Pooling/config.json': config }));

describe('the settings of a model are those of its files', () => {
  test('as sentence-transformers writes them', () => {
    const folder = writeModel({
      'modules.json': POOLED,
      '1_Pooling/config.json': { word_embedding_dimension: 384, pooling_mode_mean_tokens: true, include_prompt: false },
      'sentence_bert_config.json': { max_seq_length: 256, do_lower_case: true },
      'tokenizer_config.json': { model_max_length: 512 },
      'config_sentence_transformers.json': { prompts: { query: 'query: ', passage: 'passage: ' } },
    });
    expect(readModelSettings(folder)).toEqual({
      pooling: 'mean',
      includePrompt: false,
      maxTokens: 256,
      lowerCase: true,
      normalised: true,
      prompts: { query: 'query: ', turn: 'passage: ' },
    });
  });

  test('and unknown where there are none', () => {
    expect(readModelSettings(writeModel({}))).toEqual({
      pooling: null,
      includePrompt: true,
      maxTokens: null,
      lowerCase: false,
      normalised: false,
      prompts: { query: '', turn: '' },
    });
  });

  test.each<[string, object, number | null]>([
    ['the tokeniser', { 'tokenizer_config.json': { model_max_length: 512 }, 'config.json': {} }, 512],
    [
      'the model',
      { 'tokenizer_config.json': { model_max_length: 1e30 }, 'config.json': { max_position_embeddings: 77 } },
      77,
    ],
    ['nothing', { 'tokenizer_config.json': { model_max_length: 1e30 } }, null],
    [
      'sentence-transformers, if it writes none',
      { 'sentence_bert_config.json': { max_seq_length: null }, 'config.json': { max_position_embeddings: 77 } },
      77,
    ],
  ])('the maximal length is limited by %s', (_, files, maxTokens) => {
    expect(readModelSettings(writeModel(files as Record<string, unknown>)).maxTokens).toBe(maxTokens);
  });

  test.each<[object, string]>([
    [{ pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }, 'cls'],
    [{ pooling_mode_max_tokens: true }, 'max'],
    [{ pooling_mode_lasttoken: true }, 'lasttoken'],
    [{ pooling_mode_weightedmean_tokens: true }, 'weightedmean'],
    [{ pooling_mode_mean_sqrt_len_tokens: true }, 'mean-sqrt-length'],
    [{ pooling_mode: 'mean' }, 'mean'],
  ])('pooling %j', (config, mode) => {
    expect(readPooling(config).pooling).toBe(mode);
  });

  test.each<[object, object]>([
    [{ prompts: { query: 'q', document: 'd', passage: 'p' } }, { query: 'q', turn: 'd' }],
    [{ prompts: { query: 'q', corpus: 'c' } }, { query: 'q', turn: 'c' }],
    [
      { prompts: { s: 'sts: ' }, default_prompt_name: 's' },
      { query: 'sts: ', turn: 'sts: ' },
    ],
    [
      { prompts: { s: 'sts: ', query: 'q' }, default_prompt_name: null },
      { query: 'q', turn: '' },
    ],
    [{ prompts: {} }, { query: '', turn: '' }],
  ])('prompts %j', (config, prompts) => {
    expect(readModelSettings(writeModel({ 'config_sentence_transformers.json': config })).prompts).toEqual(prompts);
  });
});

describe('an error', () => {
  test('names a module that is not applied', () => {
    const folder = writeModel({ 'modules.json': [...POOLED, module('Dense', '3_Dense')] });
    expect(() => readModelSettings(folder)).toThrow(
      /has a module that the encoder does not apply: Dense; compute its vectors in Python and use encoder precomputed$/,
    );
  });

  test.each<[object, RegExp]>([
    [
      { pooling_mode_cls_token: true, pooling_mode_mean_tokens: true },
      /sets the pooling cls_token, mean_tokens, expected one/,
    ],
    [{ pooling_mode: 'median' }, /sets the pooling median, expected one of mean, cls, max/],
    [{}, /sets the pooling \(none\), /],
  ])('names the pooling of %j', (config, message) => {
    expect(() => readPooling(config)).toThrow(ValidationError);
    expect(() => readPooling(config)).toThrow(message);
  });

  test('names a file that is not JSON, or of another content', () => {
    expect(() => readModelSettings(writeModel({ 'modules.json': '[' }))).toThrow(ChecksumMismatchError);
    expect(() => readModelSettings(writeModel({ 'sentence_bert_config.json': { max_seq_length: 'long' } }))).toThrow(
      ConfigurationError,
    );
  });
});
