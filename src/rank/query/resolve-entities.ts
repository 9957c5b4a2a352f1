import { distance } from 'fastest-levenshtein';
import { splitIntoSentences, type TaggedWord } from '../../model/text/entities.ts';
import { joinWords, listWords, type PlacedWord } from '../../model/text/tokens.ts';
import { NOT_NAMES } from './classify-query.ts';
import type { EntityMatch, EntityRegistry } from './entity-registry.ts';

/** An entity that a question names. */
interface ResolvedEntity {
  readonly mentionText: string;
  readonly canonicalId: string;
  /** 1 for a name, .95 for an alias, .75 for a part of a name, else the similarity or the cosine. */
  readonly confidence: number;
  readonly match: EntityMatch;
}

const PART_CONFIDENCE = 0.75;
/** A shorter name is not compared by letters: most words of its length are similar to it. */
const SHORTEST_FUZZY = 4;
/** Candidates whose similarity is this near to the best are as good. */
const MARGIN = 0.02;

/** Each entity once, by its most certain mention. */
function keepFirst(found: readonly ResolvedEntity[]): ResolvedEntity[] {
  const best = new Map<string, ResolvedEntity>();
  for (const entity of found)
    if (entity.confidence > (best.get(entity.canonicalId)?.confidence ?? 0)) best.set(entity.canonicalId, entity);
  return [...best.values()];
}

/** The candidates that are as good as the best one. */
function keepBest(candidates: readonly ResolvedEntity[]): ResolvedEntity[] {
  const found = keepFirst(candidates);
  const most = Math.max(...found.map(({ confidence }) => confidence));
  return found
    .filter(({ confidence }) => confidence >= most - MARGIN)
    .sort((a, b) => b.confidence - a.confidence || (a.canonicalId < b.canonicalId ? -1 : 1));
}

/** Entities whose name is written with a few other letters; costs one comparison a name. */
function findMisspelt(key: string, mentionText: string, registry: EntityRegistry): ResolvedEntity[] {
  const { fuzzyAbove } = registry.options;
  if (key.length < SHORTEST_FUZZY) return [];
  return [...registry.names].flatMap((name) => {
    const [shorter, longer] = [Math.min(name.length, key.length), Math.max(name.length, key.length)];
    if (shorter < SHORTEST_FUZZY || shorter / longer < fuzzyAbove) return [];
    const confidence = 1 - distance(name, key) / longer;
    if (confidence < fuzzyAbove) return [];
    return registry.find(name).map(({ id }) => ({ mentionText, canonicalId: id, confidence, match: 'fuzzy' as const }));
  });
}

/** Entities of which a mention is a part of a name, or a misspelt name. */
function findSimilar(key: string, mentionText: string, registry: EntityRegistry): ResolvedEntity[] {
  const parts = registry
    .findByPart(key)
    .map((id): ResolvedEntity => ({ mentionText, canonicalId: id, confidence: PART_CONFIDENCE, match: 'fuzzy' }));
  return keepBest([...parts, ...findMisspelt(key, mentionText, registry)]);
}

/** Entities one of whose names is near by vectors. */
async function findByVector(key: string, mentionText: string, registry: EntityRegistry): Promise<ResolvedEntity[]> {
  const cosines = await registry.computeCosines(key);
  const { cosineAbove } = registry.options;
  const near = [...cosines].flatMap((cosine, i) =>
    cosine < cosineAbove
      ? []
      : registry.find(registry.vectors?.names[i] ?? '').map(
          ({ id }): ResolvedEntity => ({
            mentionText,
            canonicalId: id,
            confidence: Math.min(1, cosine),
            match: 'embedding',
          }),
        ),
  );
  return keepBest(near);
}

/** Modal verbs that are names too; at the beginning of a question they are verbs. */
const MODAL = /^(?:will|may|can)$/i;
const CLOSED_CLASS = new Set(['AUX', 'VERB', 'DET', 'PRON', 'ADP', 'ADV', 'CCONJ', 'SCONJ', 'PART']);

/** `Ann's` has two words. */
const POSSESSIVE = 's';

/** A part of a text, in characters. */
interface Place {
  readonly start: number;
  readonly end: number;
}

interface Word extends PlacedWord {
  readonly written: string;
  readonly tag: TaggedWord['tag'];
  readonly stop: boolean;
  readonly first: boolean;
  /** True if it is part of a time: `May`. */
  readonly inTime: boolean;
}

/** The words of a question, each with the tag of the language model's token that it is in. */
function readWords(text: string, times: readonly Place[]): Word[] {
  const tokens: { token: TaggedWord; end: number; first: boolean }[] = [];
  let at = 0;
  for (const sentence of splitIntoSentences(text))
    for (const [i, token] of sentence.entries()) {
      const offset = text.indexOf(token.text, at);
      if (offset < 0) continue;
      at = offset + token.text.length;
      tokens.push({ token, end: at, first: i === 0 });
    }
  let next = 0;
  return listWords(text).map((word) => {
    while (next < tokens.length - 1 && (tokens[next]?.end ?? 0) <= word.start) next++;
    const { token, first } = tokens[next] ?? {};
    const written = text.slice(word.start, word.end);
    return {
      ...word,
      written,
      tag: token?.tag ?? 'X',
      stop: token?.stop ?? false,
      first: first ?? false,
      inTime: times.some(({ start, end }) => start < word.end && word.start < end),
    };
  });
}

const isCapital = (written: string) => /^\p{Lu}/u.test(written);

/**
 * True if a word of a question can be a name that the registry writes with a capital: `will` and `mark` are verbs too.
 */
function canBeName({ written, tag, first, inTime }: Word, hasCapitals: boolean): boolean {
  if (inTime) return false;
  if (first && MODAL.test(written)) return false;
  if (!hasCapitals) return !CLOSED_CLASS.has(tag) && !MODAL.test(written);
  return isCapital(written) && !(first && tag === 'AUX');
}

/** Words of a question, by place. */
interface Span {
  readonly from: number;
  readonly to: number;
}

const overlap = (a: Span, b: Span) => a.from < b.to && b.from < a.to;

/**
 * Runs of capitalised words that belong to no entity. The first word of a sentence is one only where a name or a verb
 * follows.
 */
function findOtherNames(words: readonly Word[], known: readonly Span[]): Span[] {
  const taken = new Set(known.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i)));
  const spans: { from: number; to: number }[] = [];
  for (const [i, word] of words.entries()) {
    const canBegin = isCapital(word.written) && !word.stop && !word.inTime && !taken.has(i);
    if (!canBegin || word.text === POSSESSIVE || NOT_NAMES.has(word.text)) continue;
    const next = words[i + 1];
    const leads =
      next !== undefined && (isCapital(next.written) || next.text === POSSESSIVE || /^(?:AUX|VERB)$/.test(next.tag));
    if (word.first && !(word.tag === 'PROPN' && leads)) continue;
    const last = spans.at(-1);
    if (last?.to === i) last.to = i + 1;
    else spans.push({ from: i, to: i + 1 });
  }
  return spans;
}

/** A mention that several entities fit equally well. */
export interface AmbiguousMention {
  readonly mentionText: string;
  readonly candidates: readonly ResolvedEntity[];
}

/** What a question names. */
export interface EntityResolution {
  readonly entities: readonly ResolvedEntity[];
  readonly ambiguous: readonly AmbiguousMention[];
  /** Names that fit no entity. */
  readonly unresolved: readonly string[];
}

const ALIAS_CONFIDENCE = 0.95;

interface NamedSpan extends Span {
  readonly candidates: readonly ResolvedEntity[];
}

/** Names and aliases from left to right, the longest first. */
function findNames(words: readonly Word[], registry: EntityRegistry, text: string): NamedSpan[] {
  const hasCapitals = words.some(({ written }) => isCapital(written));
  const found: NamedSpan[] = [];
  for (let from = 0; from < words.length; from++)
    for (let to = Math.min(words.length, from + registry.longest); to > from; to--) {
      const span = words.slice(from, to);
      const mentionText = text.slice((span[0] as Word).start, (span.at(-1) as Word).end);
      const candidates = findSpan(span, registry, hasCapitals).map(
        ({ id, match }): ResolvedEntity => ({
          mentionText,
          canonicalId: id,
          confidence: match === 'exact' ? 1 : ALIAS_CONFIDENCE,
          match,
        }),
      );
      if (candidates.length === 0) continue;
      found.push({ from, to, candidates });
      from = to - 1;
      break;
    }
  return found;
}

/** The entities of a span; of a span in the plural those of its singular. */
function findSpan(span: readonly Word[], registry: EntityRegistry, hasCapitals: boolean) {
  const key = joinWords(span);
  const named = registry.find(key);
  const found = named.length > 0 || !/[^s]s$/.test(key) ? named : registry.find(key.slice(0, -1));
  const only = span.length === 1 ? (span[0] as Word) : undefined;
  return found.filter(({ written }) => only === undefined || !isCapital(written) || canBeName(only, hasCapitals));
}

/** Runs of capitalised words that are a misspelt name as a whole, though a part of them is a name: `Chris Novakk`. */
function findMisspeltWholes(
  words: readonly Word[],
  names: readonly NamedSpan[],
  registry: EntityRegistry,
  readMention: (span: Span) => { readonly key: string; readonly mentionText: string },
): NamedSpan[] {
  return findOtherNames(words, []).flatMap((run) => {
    const inside = names.filter((name) => overlap(name, run));
    if (inside.length === 0 || inside.some(({ from, to }) => from <= run.from && run.to <= to)) return [];
    const { key, mentionText } = readMention(run);
    const candidates = keepBest(findMisspelt(key, mentionText, registry));
    return candidates.length === 0 ? [] : [{ ...run, candidates }];
  });
}

/**
 * The entities that a text names.
 *
 * Names and aliases are matched first, the longest from left to right, whatever their case and marks. A name of one
 * word that is also a verb (`Will`, `Mark`) needs its capital. Capitalised words that match nothing may be a part of a
 * name, a misspelt name, or near a name by vectors. Each entity is listed once, with its best match; a mention that
 * several entities fit equally well is ambiguous and resolves to none of them.
 *
 * @param times where the text names times: `May` there is no person.
 */
export async function resolveEntities(
  text: string,
  registry: EntityRegistry | null,
  times: readonly Place[] = [],
): Promise<EntityResolution> {
  const words = readWords(text, times);
  const readMention = ({ from, to }: Span) => {
    const span = words.slice(from, to);
    return { key: joinWords(span), mentionText: text.slice((span[0] as Word).start, (span.at(-1) as Word).end) };
  };
  const names = registry === null ? [] : findNames(words, registry, text);
  const wholes = registry === null ? [] : findMisspeltWholes(words, names, registry, readMention);
  const named = [...names.filter((name) => wholes.every((whole) => !overlap(name, whole))), ...wholes];
  const groups: (readonly ResolvedEntity[])[] = named.map(({ candidates }) => candidates);
  const unresolved: string[] = [];
  for (const span of findOtherNames(words, named)) {
    const { key, mentionText } = readMention(span);
    let candidates = registry === null ? [] : findSimilar(key, mentionText, registry);
    if (registry !== null && candidates.length === 0) candidates = await findByVector(key, mentionText, registry);
    if (candidates.length === 0) unresolved.push(mentionText);
    else groups.push(candidates);
  }
  const entities = keepFirst(groups.filter(({ length }) => length === 1).map(([only]) => only as ResolvedEntity));
  const known = new Set(entities.map(({ canonicalId }) => canonicalId));
  const ambiguous = groups
    .filter((candidates) => candidates.length > 1 && !candidates.some(({ canonicalId }) => known.has(canonicalId)))
    .map((candidates) => ({ mentionText: (candidates[0] as ResolvedEntity).mentionText, candidates }));
  return { entities, ambiguous, unresolved };
}
