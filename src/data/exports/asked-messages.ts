import type { Turn } from '../../model/turns/turn.ts';
import { EarlierBodies } from '../mail/quoted-lines.ts';
import { splitIntoTokens, Vocabulary } from '../mail/shingles.ts';
import type { Counts } from '../prepared/counts.ts';
import type { MessageTurn } from './message-turns.ts';

/** A turn that is asked, and by which text. */
export interface AskedMessage {
  readonly turn: Turn;
  readonly text: string;
}

/** Letters and digits enough for a query: ten. */
const LETTERS = /(?:[\p{L}\p{N}][^\p{L}\p{N}]*){10}/u;

/**
 * The turns that may be asked, in time order, each by what it adds: without the lines that an earlier turn has, whichever turn that is. So a query does not
 * quote its answer, and its text does not depend on what it answers.
 *
 * @param read in time order.
 * @param isCandidate whether the kind of query asks a turn; the candidates that are not asked are counted by reason.
 */
export function selectAsked(
  read: readonly MessageTurn[],
  isCandidate: (message: MessageTurn) => boolean,
  counts: Counts,
): AskedMessage[] {
  const earlier = new EarlierTexts();
  const asked: AskedMessage[] = [];
  for (const one of read) {
    if (isCandidate(one)) {
      const text = earlier.selectNewLines(one.message.queryText ?? one.turn.text);
      const reason = one.notAsked ?? findTextFault(text, one.turn.text);
      if (reason === null) asked.push({ turn: one.turn, text });
      else counts.add(`not asked: ${reason}`);
    }
    earlier.add(one.turn.text);
  }
  return asked;
}

function findTextFault(text: string, whole: string): string | null {
  if (LETTERS.test(text)) return null;
  return LETTERS.test(whole) ? 'repeat an earlier message' : 'shorter than 10 letters';
}

/** The last of the turns of each conversation that come after another turn of it, in time order. */
export function selectContinuations(
  asked: readonly AskedMessage[],
  starts: ReadonlyMap<string, number>,
): AskedMessage[] {
  const last = new Map<string, AskedMessage>();
  for (const one of asked) {
    const { conversationId, timestamp } = one.turn;
    if ((starts.get(conversationId) as number) < timestamp) last.set(conversationId, one);
  }
  return asked.filter((one) => last.get(one.turn.conversationId) === one);
}

/** Words of a line that `EarlierBodies` compares by runs of words; shorter lines are compared as a whole. */
const RUN = 8;

/** What earlier turns say: runs of words, and lines that are too short for one. */
class EarlierTexts {
  readonly #bodies = new EarlierBodies(new Vocabulary());
  readonly #shortLines = new Set<string>();

  add(text: string): void {
    this.#bodies.add(text);
    for (const line of text.split('\n')) {
      const words = splitIntoTokens(line);
      if (words.length > 0 && words.length < RUN) this.#shortLines.add(words.join(' '));
    }
  }

  selectNewLines(text: string): string {
    const lines = this.#bodies.selectUnsaidLines(text.split('\n'));
    return lines
      .filter((line) => !this.#shortLines.has(splitIntoTokens(line).join(' ')))
      .join('\n')
      .trim();
  }
}
