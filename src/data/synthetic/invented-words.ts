import { createRandom, type Random } from '../../core/numbers/random.ts';

const CONSONANTS = 'bdfgklmnprstvz';
const VOWELS = 'aeiou';
/** A stemmer leaves words that end in these as they are. */
const LAST_VOWELS = 'aou';

export const TOPICS = 60;
export const TOPIC_WORDS = 4;
const FILLERS = 60;
/** More are drawn only for conversations that need them, so that the words of shorter ones stay the same. */
const NAMES = 200;

/** The invented words that all conversations of a seed share. */
export interface InventedWords {
  /** [TOPICS, TOPIC_WORDS], no word in two topics. */
  readonly topics: readonly (readonly string[])[];
  readonly fillers: readonly string[];
  /** Capitalised. */
  readonly names: readonly string[];
}

const pick = (letters: string, stream: Random) => letters[stream.integer(letters.length)] as string;

/** Three syllables, such as `bagozu`. */
function drawWord(stream: Random): string {
  const first = pick(CONSONANTS, stream) + pick(VOWELS, stream);
  const second = pick(CONSONANTS, stream) + pick(VOWELS, stream);
  return first + second + pick(CONSONANTS, stream) + pick(LAST_VOWELS, stream);
}

const capitalise = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Draws the vocabulary of a seed: words of topics, fillers and names, none of them twice. @param names at least as many, of some 200,000 possible words. */
export function inventWords(seed: number, names: number): InventedWords {
  const stream = createRandom(seed, 'synthetic words');
  const drawn = new Set<string>();
  const nameCount = Math.max(NAMES, names);
  while (drawn.size < TOPICS * TOPIC_WORDS + FILLERS + nameCount) drawn.add(drawWord(stream));
  const words = [...drawn];
  const take = (count: number) => words.splice(0, count);
  return {
    topics: Array.from({ length: TOPICS }, () => take(TOPIC_WORDS)),
    fillers: take(FILLERS),
    names: take(nameCount).map(capitalise),
  };
}
