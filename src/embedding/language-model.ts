import { createRequire } from 'node:module';
import type { WinkMethods } from 'wink-nlp';

let loaded: WinkMethods | undefined;

/**
 * wink-nlp's English model with sentences, parts of speech and entities. It takes half a second to load, so it waits for the first text; and it is loaded once
 * for all who read with it: a part of the model doubles in length each time it is loaded, and the twentieth time is one too many.
 */
export function languageModel(): WinkMethods {
  const require = createRequire(import.meta.url);
  loaded ??= (require('wink-nlp') as typeof import('wink-nlp').default)(require('wink-eng-lite-web-model'), [
    'sbd',
    'pos',
    'ner',
  ]);
  return loaded;
}
