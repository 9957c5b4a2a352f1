import { computeHash } from '../../src/core/hash/hash.ts';
import { getOrCompute } from '../../src/core/values/once.ts';
import { FormAliases } from '../../src/index/graph/form-aliases.ts';
import { normaliseForm } from '../../src/model/text/concepts.ts';

/** A passage of an encyclopedia: its text begins with the name of what it is about. */
export interface TitledPassage {
  readonly title: string;
  readonly text: string;
}

/** A pair is in the half that the threshold is chosen on, or in the one that is reported. */
export const HALVES = ['tune', 'held out'] as const;
export type Half = (typeof HALVES)[number];

/** Two forms, and whether one thing has both as its names. */
export interface NamePair {
  readonly forms: readonly [string, string];
  readonly half: Half;
  readonly isSame: boolean;
  /** 0 for a pair that is not found. */
  readonly similarity: number;
}

const BRACKETS = /\s*\([^()]*\)\s*$/;
/** The beginning of a text up to what is said of the thing: `Hannibal Barca (247 BC) was`, `Lyon, also known as`. */
const SUBJECT = /^(?<subject>[^(;:]{2,80}?)\s*(?:\(|\b(?:is|was|are|were)\b)/;
const SHORTEST_WORD = 3;

const splitIntoWords = (form: string) => form.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length >= SHORTEST_WORD);

/** The name that a passage begins with; null where no word of at least 3 characters is shared with the title: the text begins with something else. */
function readSubject(text: string, titleForm: string): string | null {
  const form = normaliseForm(SUBJECT.exec(text)?.groups?.subject ?? '');
  const words = new Set(splitIntoWords(titleForm));
  return form !== null && splitIntoWords(form).some((word) => words.has(word)) ? form : null;
}

/** The things that each form names: passages of one title, without brackets at its end, are about one thing. */
export function listNamedThings(
  passages: readonly TitledPassage[],
  otherTitles: readonly string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const thingsOf = new Map<string, Set<string>>();
  for (const { title, text } of [...passages, ...otherTitles.map((other) => ({ title: other, text: '' }))]) {
    const thing = normaliseForm(title.replace(BRACKETS, ''));
    if (thing === null) continue;
    for (const form of [thing, readSubject(text, thing)])
      if (form !== null) getOrCompute(thingsOf, form, () => new Set<string>()).add(thing);
  }
  return thingsOf;
}

/** A pair's half follows from its forms alone. */
function chooseHalf(forms: readonly string[]): Half {
  return Number.parseInt(computeHash([...forms].sort()).slice(0, 8), 16) % 2 === 0 ? 'tune' : 'held out';
}

/** Finds similar forms among the given ones: for each form earlier ones with their similarity. */
export type FindSimilarForms = (forms: readonly string[]) => Promise<readonly ReadonlyMap<string, number>[]>;

/** By letters, as {@link FormAliases} does. */
export const findByLetters =
  (leastThreshold: number): FindSimilarForms =>
  async (forms) => {
    const aliases = new FormAliases(leastThreshold);
    return forms.map((form) => new Map(aliases.add(form).map(({ form: other, similarity }) => [other, similarity])));
  };

/**
 * Every pair of two names of one thing, and every other pair that is found.
 *
 * @param otherTitles names of other things: they make wrong pairs possible.
 */
export async function listNamePairs(
  passages: readonly TitledPassage[],
  otherTitles: readonly string[],
  find: FindSimilarForms,
): Promise<NamePair[]> {
  const thingsOf = listNamedThings(passages, otherTitles);
  const pairs = new Map<string, NamePair>();
  const add = (a: string, b: string, similarity: number) => {
    const forms: readonly [string, string] = a < b ? [a, b] : [b, a];
    const isSame = [...(thingsOf.get(a) ?? [])].some((thing) => thingsOf.get(b)?.has(thing));
    pairs.set(JSON.stringify(forms), { forms, half: chooseHalf(forms), isSame, similarity });
  };
  for (const [form, things] of thingsOf) for (const thing of things) if (thing !== form) add(form, thing, 0);
  const forms = [...thingsOf.keys()];
  for (const [i, found] of (await find(forms)).entries())
    for (const [other, similarity] of found) add(forms[i] as string, other, similarity);
  return [...pairs.values()];
}

/** How right a threshold is on a half. */
export interface ThresholdQuality {
  readonly threshold: number;
  readonly found: number;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
}

/** Precision, recall and F1 of the pairs of a half whose similarity is at least the threshold. */
export function measureThreshold(pairs: readonly NamePair[], half: Half, threshold: number): ThresholdQuality {
  const own = pairs.filter((pair) => pair.half === half);
  const found = own.filter(({ similarity }) => similarity >= threshold);
  const right = found.filter(({ isSame }) => isSame).length;
  const same = own.filter(({ isSame }) => isSame).length;
  const precision = found.length === 0 ? 0 : right / found.length;
  const recall = same === 0 ? 0 : right / same;
  const f1 = right === 0 ? 0 : (2 * precision * recall) / (precision + recall);
  return { threshold, found: found.length, precision, recall, f1 };
}

/** The threshold with the best F1, the highest of equals. */
export function chooseThreshold(
  pairs: readonly NamePair[],
  half: Half,
  thresholds: readonly number[],
): ThresholdQuality {
  const qualities = thresholds.map((threshold) => measureThreshold(pairs, half, threshold));
  return qualities.reduce((best, quality) => (quality.f1 >= best.f1 ? quality : best));
}
