import { createRandom, type Random } from '../src/core/numbers/random.ts';
import type { Turn } from '../src/model/turns/turn.ts';

const MINUTE_MILLISECONDS = 60_000;
const OPEN_THREADS = 8;
const SYLLABLES = 'ka lo mer tin sor vel dra pin gus ron ela tur bis hom net cal fay wen jor ith'.split(' ');
const FUNCTION_WORDS =
  'the of and to in a is that for it was on are as with they at be this from have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know'.split(
    ' ',
  );
const ADJECTIVES =
  'old new small large early late quiet public private annual local foreign final direct open simple formal recent common rare'.split(
    ' ',
  );
/** Words of the language besides function words; that of a larger corpus is the same. */
const WORDS = 20_000;
/** Subjects of many threads. */
const RECURRING_TITLES = ['Weekly Report', 'Status Update', 'Meeting Notes', 'Open Questions', 'Travel Plans'];

/** A rank from 1 to `most` with probability about 1 / rank (Zipf's law): the first is drawn ln 2 / ln(most + 1) of the time. */
function drawRank(source: Random, most: number): number {
  return Math.floor((most + 1) ** source.uniform());
}

/** A made-up word, another for each number. */
function spellWord(number: number): string {
  const spell = (rest: number): string =>
    rest < SYLLABLES.length
      ? (SYLLABLES[rest] as string)
      : spell(Math.floor(rest / SYLLABLES.length) - 1) + SYLLABLES[rest % SYLLABLES.length];
  return spell(number + SYLLABLES.length);
}

const capitalise = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Every third name is one word, the others are two, of which many names share the first. */
function spellName(rank: number): string {
  const last = capitalise(spellWord(7 * rank + 3));
  return rank % 3 === 0 ? last : `${capitalise(spellWord((rank * 31) % 400))} ${last}`;
}

function drawWord(source: Random): string {
  const rank = drawRank(source, FUNCTION_WORDS.length + WORDS);
  return FUNCTION_WORDS[rank - 1] ?? spellWord(rank);
}

/** What is made as the turns come. */
interface Growing {
  readonly source: Random;
  /** Names that exist. */
  readonly names: number;
  /** Distinctive titles so far, the first the most named. */
  readonly titles: string[];
}

interface Thread {
  readonly id: string;
  readonly length: number;
  readonly names: readonly string[];
  readonly ids: string[];
}

function drawName({ source, names }: Growing, thread?: Thread): string {
  const isOfThread = thread !== undefined && source.uniform() < 0.6;
  const name = isOfThread
    ? (thread.names[source.integer(thread.names.length)] as string)
    : spellName(drawRank(source, names));
  return source.uniform() < 0.05 ? name + name.slice(-1) : name; // another spelling
}

function openThread(growing: Growing, number: number): Thread {
  const { source } = growing;
  const names = Array.from({ length: 3 }, () => drawName(growing));
  return { id: `c${number}`, length: 2 + source.integer(13), names, ids: [] };
}

/** Every fourth turn that begins a thread has a title of its own, and every eighth one that others have too. */
function drawTitle({ source, titles }: Growing, thread: Thread): string | null {
  if (thread.ids.length > 0) return null;
  const draw = source.uniform();
  if (draw < 0.125) return RECURRING_TITLES[source.integer(RECURRING_TITLES.length)] as string;
  if (draw > 0.375) return null;
  const title = `${capitalise(spellWord(source.integer(WORDS)))} ${capitalise(spellWord(source.integer(WORDS)))}`;
  titles.push(title);
  return title;
}

/** Sentences of 7 to 15 words, the first a function word, so that capitals tell names, with a name in most, and now and then a noun phrase, a year or a title. */
function drawText(growing: Growing, thread: Thread, sentences: number): string {
  const { source, titles, names } = growing;
  return Array.from({ length: sentences }, () => {
    const words = Array.from({ length: 6 + source.integer(9) }, () => drawWord(source));
    const place = () => source.integer(words.length + 1);
    if (source.uniform() < 0.8) words.splice(place(), 0, drawName(growing, thread));
    if (source.uniform() < 0.3) {
      const phrase = drawRank(source, names);
      words.splice(place(), 0, `${ADJECTIVES[phrase % ADJECTIVES.length]} ${spellWord(5 * phrase)}`);
    }
    if (source.uniform() < 0.1) words.splice(place(), 0, `in ${2026 - drawRank(source, 200)}`);
    if (source.uniform() < 0.1 && titles.length > 0)
      words.splice(place(), 0, `"${titles[drawRank(source, titles.length) - 1]}"`);
    const first = capitalise(FUNCTION_WORDS[drawRank(source, FUNCTION_WORDS.length) - 1] as string);
    return `${first} ${words.join(' ')}.`;
  }).join(' ');
}

/** A question of the time between two turns. */
export interface NamedQuery {
  readonly text: string;
  /** The turns before it. */
  readonly cutoff: number;
}

/**
 * Turns of made-up threads, a few of which are open at a time, in time order. Names, titles, noun phrases and words have the frequencies of Zipf's law, so that
 * some are hubs: the most frequent of N / 2 names is in an eighth to a fifth of the turns. Queries are spread over the last tenth of the time and ask for names of a thread.
 *
 * @param size N.
 * @param queryCount at most N / 10.
 */
export function drawNamedThreads(
  size: number,
  queryCount: number,
  seed: number,
): { readonly turns: readonly Turn[]; readonly queries: readonly NamedQuery[] } {
  const source = createRandom(seed, 'named-threads');
  const growing: Growing = { source, names: Math.ceil(size / 2), titles: [] };
  const asker: Growing = { ...growing, source: createRandom(seed, 'named-threads/queries') };
  const open: Thread[] = [];
  const turns: Turn[] = [];
  const queries: NamedQuery[] = [];
  for (let threads = 0; turns.length < size; ) {
    while (open.length < OPEN_THREADS) open.push(openThread(growing, threads++));
    const place = source.integer(open.length);
    const thread = open[place] as Thread;
    turns.push(drawTurn(growing, thread, turns.length));
    if (thread.ids.length === thread.length) open.splice(place, 1);
    const due = size - Math.floor((size / 10) * (1 - (queries.length + 1) / queryCount));
    if (queries.length < queryCount && turns.length >= due)
      queries.push({ text: drawText(asker, thread, 1 + (queries.length % 2)), cutoff: turns.length });
  }
  return { turns, queries };
}

function drawTurn(growing: Growing, thread: Thread, number: number): Turn {
  const { source } = growing;
  const id = `t${number}`;
  const title = drawTitle(growing, thread);
  const parentId = thread.ids[Math.max(0, thread.ids.length - 1 - source.integer(3))] ?? null;
  thread.ids.push(id);
  return {
    id,
    conversationId: thread.id,
    parentId,
    timestamp: number * MINUTE_MILLISECONDS,
    author: null,
    channel: null,
    text: drawText(growing, thread, 2 + source.integer(4)),
    ...(title !== null && { attributes: { title } }),
  };
}
