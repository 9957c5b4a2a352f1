import { createRequire } from 'node:module';
import type { WinkMethods } from 'wink-nlp';

/** Every lexeme that a model has met, and the place of each. */
interface Lexemes {
  readonly hash: Record<string, number>;
  readonly list: readonly string[];
}

let loaded: WinkMethods | undefined;

/** The package's model, and the lexemes of the core that `wink-nlp` makes of it. */
function observedModel(require: NodeJS.Require) {
  const model = require('wink-eng-lite-web-model') as { core: () => { features: { lexeme: Lexemes } } };
  let lexemes: Lexemes = { hash: {}, list: [] };
  const core = () => {
    const made = model.core();
    lexemes = made.features.lexeme;
    return made;
  };
  return { model: { ...model, core }, lexemes: () => lexemes };
}

/**
 * Reads every text as if it were the first. wink-nlp remembers each token of a text and takes it whole wherever it stands again: "rpm's," makes one token of
 * what "rpm's" makes two of, and of every later "rpm's". Its list only grows, since documents point into it; what it looks words up by forgets.
 */
function forgetful(nlp: WinkMethods, { hash, list }: Lexemes): WinkMethods {
  let known = list.length;
  const readDoc: WinkMethods['readDoc'] = (text) => {
    for (const lexeme of list.slice(known)) delete hash[lexeme];
    known = list.length;
    return nlp.readDoc(text);
  };
  return Object.assign(Object.create(nlp), { readDoc });
}

function load(): WinkMethods {
  const require = createRequire(import.meta.url);
  const { model, lexemes } = observedModel(require);
  const winkNlp = require('wink-nlp') as (model: unknown, pipe: string[]) => WinkMethods;
  const nlp = winkNlp(model, ['sbd', 'pos', 'ner']);
  return forgetful(nlp, lexemes());
}

/**
 * wink-nlp's English model with sentences, parts of speech and entities. What a text holds does not depend on what was read before. It takes half a second to
 * load, so it waits for the first text; and it is loaded once for all who read with it: a part of the model doubles in length each time it is loaded, and the
 * twentieth time is one too many.
 */
export function languageModel(): WinkMethods {
  loaded ??= load();
  return loaded;
}
