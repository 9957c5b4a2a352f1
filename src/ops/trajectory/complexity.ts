import type { PartOfSpeech } from 'wink-nlp';
import { getLanguageModel } from '../../model/text/language-model.ts';

/** Verb groups of the tokens from `start` to `end`: runs of verbs and auxiliaries, which an adverb or particle does not break ("has not been paid"). */
function countVerbGroups(tags: readonly PartOfSpeech[], start: number, end: number): number {
  let groups = 0;
  let inside = false;
  for (let i = start; i <= end; i++) {
    const tag = tags[i];
    const verb = tag === 'VERB' || tag === 'AUX';
    if (verb && !inside) groups++;
    inside = verb || (inside && (tag === 'ADV' || tag === 'PART'));
  }
  return groups;
}

/** Runs of proper nouns outside the spans that the entity recogniser has marked. */
function countNames(tags: readonly PartOfSpeech[], entities: readonly number[][]): number {
  const marked = new Uint8Array(tags.length);
  for (const [start = 0, end = 0] of entities) marked.fill(1, start, end + 1);
  let names = 0;
  let inside = false;
  for (const [i, tag] of tags.entries()) {
    const name = tag === 'PROPN' && marked[i] === 0;
    if (name && !inside) names++;
    inside = name;
  }
  return names;
}

/**
 * The number of semantic components of an English text, at least 1: clauses plus named entities. A sentence has as many clauses as verb groups, and at least
 * one. Named entities are what wink-nlp recognises (dates, durations, money, addresses, numbers) and runs of proper nouns outside those.
 */
export function countComponents(text: string): number {
  const { its, readDoc } = getLanguageModel();
  const document = readDoc(text);
  const tags = document.tokens().out(its.pos) as PartOfSpeech[];
  const sentences = document.sentences().out(its.span) as number[][];
  const entities = document.entities().out(its.span) as number[][];
  let clauses = 0;
  for (const [start = 0, end = 0] of sentences) clauses += Math.max(1, countVerbGroups(tags, start, end));
  return Math.max(1, clauses + entities.length + countNames(tags, entities));
}

/** {@link countComponents} of each text; about 0.4 ms for 150 words. */
export function countTextComponents(texts: readonly string[]): Int32Array {
  return Int32Array.from(texts, countComponents);
}
