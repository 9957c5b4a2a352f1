import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeSafetensors } from '../../core/files/safetensors.ts';
import { drawBert, SMALL_SIZES } from '../../ops/bert/bert.fixture.ts';
import type { BertSizes } from '../../ops/bert/bert.ts';

const WORDS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'ann', 'cooked', 'soup', ':', 'query', 'passage'];

/**
 * Writes a folder as those of Hugging Face, with a model of random weights.
 *
 * @param config keys of `config.json` in the place of those that fit the weights.
 */
export function writeSmallBert(folder: string, config: object = {}, drawn: BertSizes = SMALL_SIZES): void {
  mkdirSync(folder, { recursive: true });
  const sizes = { ...drawn, model_type: 'bert', hidden_act: 'gelu', ...config };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(sizes));
  const vocab = Object.fromEntries(WORDS.map((piece, id) => [piece, id]));
  writeFileSync(
    join(folder, 'tokenizer.json'),
    JSON.stringify({
      normalizer: { type: 'BertNormalizer' },
      pre_tokenizer: { type: 'BertPreTokenizer' },
      model: { type: 'WordPiece', vocab },
    }),
  );
  writeSafetensors(join(folder, 'model.safetensors'), { tensors: drawBert(7, drawn) as never, metadata: {} });
}
