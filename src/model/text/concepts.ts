import { parseTitle, replaceQuoted, splitIntoSentences, type TaggedWord } from './entities.ts';
import { replaceByBlanks } from './tokens.ts';

/** What a mention is: a title (given, or between quotation marks), a name, or another noun phrase. */
export type ConceptKind = 'title' | 'name' | 'phrase';

/** A concept as a text writes it. */
export interface ConceptMention {
  /** Lower case, without determiners, a common noun at its end as a lemma: `old map` of `the old maps`. */
  readonly form: string;
  /** The first that applies of title, name and phrase. */
  readonly kind: ConceptKind;
  /** How many times the text mentions it. */
  readonly count: number;
}

const MOST_WORDS = 8;
const MOST_CHARACTERS = 120;
/** A run of names and common nouns of at most this length is also a phrase as a whole: `linux kernel patch`. */
const MOST_MIXED_WORDS = 4;
/** Words of a name between its capitalised ones: `Bank of America`. */
const CONNECTORS = new Set(['of', 'the', 'de', 'la', 'del', 'di', 'da', 'du', 'le', 'der', 'den', 'van', 'von']);
const MOST_CONNECTORS = 2;
const DETERMINER = /^(?:the|an?|this|that|these|those|my|your|his|her|its|our|their)\s+/;
const OUTER_MARKS = /^[^\p{L}\p{N}(]+|[^\p{L}\p{N})]+$/gu;
/** The language model leaves it at some words: `America's.` */
const POSSESSIVE = /'s$/;
const PARENTHESIS = /\s*\([^()]*\)\s*$/;
const YEAR = /^\d{4}$/;
const LETTER = /\p{L}/u;
const KINDS: readonly ConceptKind[] = ['title', 'name', 'phrase'];

/** A word, or words joined by hyphens. */
interface Unit extends TaggedWord {
  readonly name: boolean;
}

/** Part of a sentence: units from start to before end, all names or none. */
interface Segment {
  readonly start: number;
  readonly end: number;
  readonly name: boolean;
}

/** One spelling of a form: lower case, without determiner and marks at its ends; null where no concept is left. */
export function normaliseForm(text: string): string | null {
  if (text.length > 2 * MOST_CHARACTERS) return null;
  const plain = text.normalize('NFKC').replaceAll('’', "'").toLowerCase().replaceAll(/\s+/g, ' ');
  const form = plain.replaceAll(OUTER_MARKS, '').replace(DETERMINER, '');
  return form.length < 2 || form.length > MOST_CHARACTERS || !LETTER.test(form) ? null : form;
}

/** `twenty - first - century` as one word where no space is between; the last part tells what it is. */
function joinHyphens(words: readonly TaggedWord[]): TaggedWord[] {
  const units: TaggedWord[] = [];
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as TaggedWord;
    const [last, next] = [units.at(-1), words[i + 1]];
    const hyphen = word.text === '-' && word.joined && next?.joined && last && LETTER.test(last.text + next.text);
    if (!hyphen || !last || !next || last.tag === 'PUNCT' || next.tag === 'PUNCT') {
      units.push(word);
      continue;
    }
    units[units.length - 1] = {
      text: `${last.text}-${next.text}`,
      lemma: `${last.text}-${next.lemma}`,
      tag: next.tag === 'VERB' ? 'ADJ' : next.tag,
      stop: false,
      joined: last.joined,
    };
    i++;
  }
  return units;
}

/** Where capitals tell nothing, at the beginning of a sentence and in a sentence of capitals, only proper nouns are names. */
function markNames(sentence: readonly TaggedWord[]): Unit[] {
  const units = joinHyphens(sentence);
  const first = units.findIndex(({ text }) => LETTER.test(text));
  const telling = units.some(({ text }) => /^\p{Ll}{2}/u.test(text));
  return units.map((unit, i) => {
    const proper = unit.tag === 'PROPN' || (unit.tag === 'NOUN' && telling && i !== first);
    return { ...unit, name: proper && !unit.stop && /\p{Lu}/u.test(unit.text) };
  });
}

const isNoun = ({ tag }: Unit) => tag === 'NOUN' || tag === 'PROPN';
const isPart = (unit: Unit) =>
  !unit.stop && /[\p{L}\p{N}]/u.test(unit.text) && (isNoun(unit) || unit.tag === 'ADJ' || unit.tag === 'NUM');

/** Adjectives, numbers and nouns up to the last noun. A year remains before a name, a number after one: `2018 FIFA World Cup`, `Windows 95`. */
function trimRun(units: readonly Unit[], start: number, end: number): [number, number] {
  let [from, to] = [start, end];
  while (from < to && units[from]?.tag === 'NUM' && !(units[from + 1]?.name && YEAR.test(units[from]?.text ?? '')))
    from++;
  while (to > from && !isNoun(units[to - 1] as Unit) && !(units[to - 1]?.tag === 'NUM' && units[to - 2]?.name)) to--;
  return [from, to];
}

function listRuns(units: readonly Unit[]): [number, number][] {
  const runs: [number, number][] = [];
  for (let start = 0; start < units.length; start++) {
    let end = start;
    while (end < units.length && isPart(units[end] as Unit)) end++;
    const [from, to] = trimRun(units, start, end);
    if (from < to) runs.push([from, to]);
    start = end;
  }
  return runs;
}

/** A run as its names and the common words between; a number belongs to the name beside it. */
function splitRun(units: readonly Unit[], [from, to]: readonly [number, number]): Segment[] {
  const segments: Segment[] = [];
  for (let i = from; i < to; i++) {
    const number = units[i]?.tag === 'NUM';
    const name = units[i]?.name || (number && (units[i - 1]?.name || units[i + 1]?.name)) || false;
    const last = segments.at(-1);
    if (last !== undefined && last.name === name) segments[segments.length - 1] = { ...last, end: i + 1 };
    else segments.push({ start: i, end: i + 1, name });
  }
  return segments;
}

function writeForm(units: readonly Unit[], { start, end }: Segment): string | null {
  const words = units.slice(Math.max(start, end - MOST_WORDS), end);
  const last = words.at(-1);
  const head = last?.tag === 'NOUN' && !last.name ? last.lemma : last?.text.replace(POSSESSIVE, '');
  return normaliseForm([...words.slice(0, -1).map(({ text }) => text), head].join(' '));
}

/** Names that connectors join, as wholes. */
function joinNames(units: readonly Unit[], segments: readonly Segment[]): Segment[] {
  const chains = new Set<Segment>();
  let chain: Segment | undefined;
  for (const segment of segments.filter(({ name }) => name)) {
    const between = chain === undefined ? [] : units.slice(chain.end, segment.start);
    const joins =
      between.length > 0 &&
      between.length <= MOST_CONNECTORS &&
      between.every(({ text }) => CONNECTORS.has(text)) &&
      segment.end - (chain as Segment).start <= MOST_WORDS;
    if (joins) {
      chains.delete(chain as Segment);
      chain = { ...(chain as Segment), end: segment.end };
      chains.add(chain);
    } else chain = segment;
  }
  return [...chains];
}

/** Forms of a sentence with whether each is a name, in an order that the sentence determines. */
function* listForms(sentence: readonly TaggedWord[]): Generator<[string | null, boolean]> {
  const units = markNames(sentence);
  const segments: Segment[] = [];
  for (const run of listRuns(units)) {
    const parts = splitRun(units, run);
    segments.push(...parts);
    for (const part of parts)
      if (part.name || isNoun(units[part.end - 1] as Unit)) yield [writeForm(units, part), part.name];
    const [start, end] = run;
    if (parts.length > 1 && end - start <= MOST_MIXED_WORDS)
      yield [writeForm(units, { start, end, name: false }), false];
  }
  for (const chain of joinNames(units, segments)) yield [writeForm(units, chain), true];
}

class Mentions {
  readonly #known = new Map<string, { kind: ConceptKind; count: number }>();

  add(form: string | null, kind: ConceptKind): void {
    if (form === null) return;
    const known = this.#known.get(form);
    if (known === undefined) this.#known.set(form, { kind, count: 1 });
    else {
      known.count++;
      if (KINDS.indexOf(kind) < KINDS.indexOf(known.kind)) known.kind = kind;
    }
  }

  list(): ConceptMention[] {
    return Array.from(this.#known, ([form, { kind, count }]) => ({ form, kind, count }));
  }
}

/**
 * The concepts that an English text mentions, in the order of their first mention.
 *
 * - Titles: the given title, also without a parenthesis at its end (`Chicago (band)`), and 2 to 12 words between quotation marks.
 * - Names: runs of capitalised words with the numbers beside them, and names joined by words such as `of` (`Bank of America`, besides its parts).
 * - Phrases: runs of adjectives and nouns that end in a noun, which is given as its lemma. A run of at most 4 words with a name in it is a phrase besides its parts.
 *
 * Determiners, pronouns and other stop words belong to no form. Web and mail addresses are not read. A run counts by its last 8 words; a form has at most 120
 * characters. Cost is linear in the length of the text.
 */
export function findConcepts(text: string, title?: string): readonly ConceptMention[] {
  const mentions = new Mentions();
  if (title !== undefined && title.length <= 2 * MOST_CHARACTERS) {
    const [whole, short] = [title, title.replace(PARENTHESIS, '')].map(normaliseForm) as [string | null, string | null];
    mentions.add(whole, 'title');
    if (short !== whole) mentions.add(short, 'title');
  }
  const takeTitle = (quoted: string, content: string) => {
    const found = parseTitle(content);
    if (found === null) return quoted;
    mentions.add(normaliseForm(found), 'title');
    return ' ';
  };
  const plain = replaceByBlanks(text.normalize('NFKC').replaceAll('’', "'"));
  const untitled = plain.split('\n').map((line) => replaceQuoted(line, takeTitle));
  for (const sentence of splitIntoSentences(untitled.join('\n')))
    for (const [form, name] of listForms(sentence)) mentions.add(form, name ? 'name' : 'phrase');
  return mentions.list();
}
