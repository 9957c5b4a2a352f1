import type { ItsFunction, PartOfSpeech } from 'wink-nlp';
import { getLanguageModel } from './language-model.ts';
import { replaceByBlanks } from './tokens.ts';

/** A word or a mark of a text, with what the language model says of it. */
export interface TaggedWord {
  readonly text: string;
  readonly tag: PartOfSpeech;
  readonly stop: boolean;
  /** The form that a dictionary lists: `map` of `maps`. Its case varies. */
  readonly lemma: string;
  /** True if it stands directly after the token before. */
  readonly joined: boolean;
}

/** Marks that are left out: a long run of them has no word, and each takes the time of a word. */
const LONG_MARKS = /([^\s\p{L}\p{N}]{128})[^\s\p{L}\p{N}]+/gu;

/** Sentences as words with their marks. A line that is broken begins a new one: headers and lists have no full stops. */
export function splitIntoSentences(text: string): TaggedWord[][] {
  const { its, readDoc } = getLanguageModel();
  const document = readDoc(text.replace(LONG_MARKS, '$1'));
  const tokens = document.tokens();
  const texts = tokens.out(its.value) as string[];
  const tags = tokens.out(its.pos) as PartOfSpeech[];
  // The package declares some of these with another signature than that which `out` takes.
  const stops = tokens.out(its.stopWordFlag as unknown as ItsFunction<boolean>) as boolean[];
  const lemmas = tokens.out(its.lemma as unknown as ItsFunction<string>) as string[];
  const spaces = tokens.out(its.precedingSpaces) as string[];
  const starts = new Set((document.sentences().out(its.span) as number[][]).map(([start]) => start));
  const sentences: TaggedWord[][] = [[]];
  for (const [i, word] of texts.entries()) {
    if (starts.has(i) || word.includes('\n')) sentences.push([]);
    sentences.at(-1)?.push({
      text: word,
      tag: tags[i] as PartOfSpeech,
      stop: stops[i] as boolean,
      lemma: lemmas[i] as string,
      joined: spaces[i] === '',
    });
  }
  return sentences;
}

/** The text between quotation marks on one line; a single mark inside a word is an apostrophe. */
const QUOTED = /"([^"\n]+)"|“([^”\n]+)”|(?<![\p{L}\p{N}])['‘]((?:[^'’\n]|['’](?=\p{L}))+)['’](?!\p{L})/uy;
const OPENING = /["“]|(?<![\p{L}\p{N}])['‘]/gu;
const CLOSING_SINGLE = /['’](?!\p{L})/gu;
const TITLE_WORDS = { least: 2, most: 12 };

/** Words of a title between quotation marks, without the marks at its ends. */
export function parseTitle(quoted: string): string | null {
  const words = quoted.toLowerCase().replaceAll('’', "'").match(/\S+/g) ?? [];
  if (words.length < TITLE_WORDS.least || words.length > TITLE_WORDS.most) return null;
  return words.join(' ').replace(/[.,;:!?]+$/, '');
}

/**
 * A line with another text for what stands between quotation marks. A mark behind the last closing one of its kind is
 * skipped, since each of them would read the rest of the line.
 */
export function replaceQuoted(line: string, replace: (quoted: string, content: string) => string): string {
  const lastSingle = [...line.matchAll(CLOSING_SINGLE)].at(-1)?.index ?? -1;
  const lastOf = new Map([
    ['"', line.lastIndexOf('"')],
    ['“', line.lastIndexOf('”')],
  ]);
  let replaced = '';
  let copied = 0;
  for (const { 0: mark, index } of line.matchAll(OPENING)) {
    if (index < copied || index >= (lastOf.get(mark) ?? lastSingle)) continue;
    QUOTED.lastIndex = index;
    const found = QUOTED.exec(line);
    if (found === null) continue;
    replaced += line.slice(copied, index) + replace(found[0], (found[1] ?? found[2] ?? found[3]) as string);
    copied = QUOTED.lastIndex;
  }
  return replaced + line.slice(copied);
}

/** With its thousands and decimals and optionally a unit after it; not in `v2` and `4f2a`. */
const NUMBER = /(?<![\p{L}\p{N}_]|\p{L}[.-]|\p{N}[.,])\d+(?:[.,]\d+)*(?!\p{L}*\d)/gu;
const WORD = /[\p{L}\p{N}]/u;

/** `1,200.50` is 1200.5, `05` is 5; the parts of `2.4.18` are not changed. */
function normaliseNumber(digits: string): string {
  const plain = digits.replaceAll(/,(?=\d{3}(?!\d))/g, '');
  return /^\d+(?:\.\d+)?$/.test(plain) && plain.length < 16 ? String(Number(plain)) : plain;
}

/**
 * Runs of capitalised words; at the beginning of a sentence and in a sentence of capitals, only words tagged as proper
 * nouns.
 */
function findNames(sentence: readonly TaggedWord[]): string[] {
  const first = sentence.findIndex(({ text }) => WORD.test(text));
  const telling = sentence.some(({ text }) => /^\p{Ll}{2}/u.test(text));
  const names: string[][] = [];
  let inside = false;
  for (const [i, { text, tag, stop }] of sentence.entries()) {
    const capital = /^\p{Lu}/u.test(text) && !stop && !/^I(?:['’]|$)/.test(text);
    const isName = capital && (tag === 'PROPN' || (telling && i !== first));
    if (isName && inside) names.at(-1)?.push(text);
    else if (isName) names.push([text]);
    inside = isName;
  }
  return names.map((words) => words.join(' ').toLowerCase().replaceAll('’', "'").replace(/'s$/, ''));
}

/**
 * The named things of an English text, in lower case: titles of 2 to 12 words between quotation marks, each one entity;
 * numbers without their units; and proper names, runs of capitalised words. A word that begins a sentence or a line is
 * a name only where wink-nlp tags it a proper noun. Web and mail addresses are not read.
 */
export function findEntities(text: string): ReadonlySet<string> {
  const entities = new Set<string>();
  const take = (entity: string) => {
    entities.add(entity);
    return ' ';
  };
  const untitledLine = (line: string) =>
    replaceQuoted(line, (quoted, content) => {
      const title = parseTitle(content);
      return title === null ? quoted : take(title);
    });
  const untitled = replaceByBlanks(text).split('\n').map(untitledLine).join('\n');
  for (const [digits] of untitled.matchAll(NUMBER)) take(normaliseNumber(digits));
  for (const sentence of splitIntoSentences(untitled)) for (const name of findNames(sentence)) take(name);
  return entities;
}

/** Share of a's entities that are in b, from 0 to 1; 0 where a has none. */
export function computeEntityOverlap(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const entity of a) if (b.has(entity)) shared++;
  return a.size === 0 ? 0 : shared / a.size;
}
