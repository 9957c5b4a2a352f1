import { findChainEnds } from '../../model/turns/conversation.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { isId } from '../jsonl/jsonl-rows.ts';
import { EarlierBodies } from '../mail/mail-quotes.ts';
import { splitIntoTokens } from '../mail/shingles.ts';
import { type Link, liftLinks, settleTimes } from '../mail/thread-parents.ts';
import type { Counts } from '../prepared/prepared.ts';
import type { SourceMessage } from './source-message.ts';

/** A turn that is asked, and by which text. */
export interface AskedMessage {
  readonly turn: Turn;
  readonly text: string;
}

/** Letters and digits enough for a query: ten. */
const LETTERS = /(?:[\p{L}\p{N}][^\p{L}\p{N}]*){10}/u;

/**
 * The turns that may be asked, in time order, each by what it adds: without the lines that an earlier turn has,
 * whichever turn that is. So a query does not quote its answer, and its text does not depend on what it answers.
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
  for (const entry of read) {
    if (isCandidate(entry)) {
      const text = earlier.selectNewLines(entry.message.queryText ?? entry.turn.text);
      const reason = entry.notAsked ?? findTextFault(text, entry.turn.text);
      if (reason === null) asked.push({ turn: entry.turn, text });
      else counts.add(`not asked: ${reason}`);
    }
    earlier.add(entry.turn.text);
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
  for (const entry of asked) {
    const { conversationId, timestamp } = entry.turn;
    if ((starts.get(conversationId) as number) < timestamp) last.set(conversationId, entry);
  }
  return asked.filter((entry) => last.get(entry.turn.conversationId) === entry);
}

/** Words of a line that `EarlierBodies` compares by runs of words; shorter lines are compared as a whole. */
const RUN = 8;

/** The texts of earlier turns: runs of words, and lines that are too short for one. */
class EarlierTexts {
  readonly #bodies = new EarlierBodies();
  readonly #shortLines = new Set<string>();

  add(text: string): void {
    this.#bodies.add(text);
    for (const line of text.split('\n')) {
      const words = splitIntoTokens(line);
      if (words.length > 0 && words.length < RUN) this.#shortLines.add(words.join(' '));
    }
  }

  selectNewLines(text: string): string {
    const { unsaid } = this.#bodies.compareLines(text.split('\n'));
    return unsaid
      .filter((line) => !this.#shortLines.has(splitIntoTokens(line).join(' ')))
      .join('\n')
      .trim();
  }
}

/** A message that is a turn. */
export interface MessageTurn {
  readonly turn: Turn;
  readonly message: SourceMessage;
  /** False if the message that it answers was skipped: its parent is then an older one, or none. */
  readonly answers: boolean;
  /** Why it can be no query; null if it can be one. */
  readonly notAsked: string | null;
}

/** Siblings by one author: new versions of one message, as of an edited prompt or a regenerated answer, or messages of their own. */
export type Siblings = 'versions' | 'messages';

/** In milliseconds. */
const STEP = 1;

type Keyed = ReadonlyMap<string, SourceMessage>;

/** Ids of one conversation may be those of another. */
function formatKey({ conversationId }: SourceMessage, id: string): string {
  return `${conversationId ?? ''}\n${id}`;
}

/**
 * The messages that are turns, in time order, each below the nearest turn above it. Skipped messages are counted by reason. O(messages), besides sorting.
 *
 * A turn is at least a millisecond later than its parent. A time that had to be moved is computed from the link, so such a turn is not asked.
 */
export function buildMessageTurns(
  messages: readonly SourceMessage[],
  siblings: Siblings,
  counts: Counts,
): MessageTurn[] {
  const keyed = selectFirst(messages, counts);
  const kept = selectKept(keyed, counts);
  const links = liftLinks(new Set(kept.keys()), ...listLinks(keyed));
  const stated = new Map([...kept].map(([key, { time }]) => [key, time]));
  const times = settleTimes(stated, links, STEP);
  const roots = findChainEnds(kept.keys(), (key) => links.get(key)?.id ?? null);
  const read = [...kept].map(([key, message]): MessageTurn => {
    const link = links.get(key);
    const root = (kept.get(roots.get(key) as string) as SourceMessage).id;
    const timestamp = times.get(key) as number;
    return {
      turn: {
        id: message.id,
        conversationId: message.conversationId ?? `t-${root}`,
        parentId: link === undefined ? null : (kept.get(link.id) as SourceMessage).id,
        timestamp,
        author: message.author,
        channel: message.channel,
        text: message.text,
      },
      message,
      answers: link?.direct ?? false,
      notAsked: message.notAsked ?? findTimeFault(message, timestamp),
    };
  });
  read.sort((a, b) => a.turn.timestamp - b.turn.timestamp || compareBytes(a.turn.id, b.turn.id));
  return siblings === 'versions' ? markVersions(read) : read;
}

function findTimeFault({ time, timed }: SourceMessage, timestamp: number): string | null {
  if (!timed) return 'without a time';
  return time === timestamp ? null : 'dated before their parent';
}

/** The first message of each id of a conversation. */
function selectFirst(messages: readonly SourceMessage[], counts: Counts): Keyed {
  const keyed = new Map<string, SourceMessage>();
  for (const message of messages) {
    const key = formatKey(message, message.id);
    if (!keyed.has(key)) keyed.set(key, message);
    else if (message.skipped === null) counts.add('skipped: messages that are there twice');
  }
  return keyed;
}

/** The messages that are turns: those without a reason against it, whose id is one word that no other conversation has, and whose parents lead to a root. */
function selectKept(keyed: Keyed, counts: Counts): Keyed {
  const ends = findChainEnds(keyed.keys(), (key) => findParentKey(keyed, key));
  const taken = new Set<string>();
  const kept = new Map<string, SourceMessage>();
  for (const [key, message] of keyed) {
    const isInCircle = findParentKey(keyed, ends.get(key) as string) !== null;
    const reason = findSkipReason(message, isInCircle, taken);
    if (reason !== null) {
      counts.add(`skipped: ${reason}`);
      continue;
    }
    taken.add(message.id);
    kept.set(key, message);
  }
  return kept;
}

function findSkipReason(message: SourceMessage, isInCircle: boolean, taken: ReadonlySet<string>): string | null {
  if (message.skipped !== null) return message.skipped;
  if (isInCircle) return 'messages in a circle of parents';
  if (![message.id, message.conversationId ?? message.id].every(isId)) return 'messages whose id is not one word';
  if (taken.has(message.id)) return 'messages copied from another conversation';
  return message.text.trim() === '' ? 'messages without a text' : null;
}

function findParentKey(keyed: Keyed, key: string): string | null {
  const message = keyed.get(key) as SourceMessage;
  if (message.parentId === null) return null;
  const parent = formatKey(message, message.parentId);
  return keyed.has(parent) ? parent : null;
}

/** The links of all messages; and for each that is passed over the message above it, for which it stands. */
function listLinks(keyed: Keyed): [links: Map<string, Link>, copies: Map<string, string>] {
  const links = new Map<string, Link>();
  const copies = new Map<string, string>();
  for (const [key, { answers, passedOver }] of keyed) {
    const parent = findParentKey(keyed, key);
    if (parent === null) continue;
    links.set(key, { id: parent, direct: answers });
    if (passedOver) copies.set(key, parent);
  }
  return [links, copies];
}

/**
 * Marks each turn that has an earlier sibling by the same author. A new version of a message is not asked: the link of the earlier version, which is in the past
 * of the query, leads to the answer.
 */
function markVersions(read: readonly MessageTurn[]): MessageTurn[] {
  const seen = new Set<string>();
  return read.map((one) => {
    const { parentId, conversationId, author } = one.turn;
    const branch = JSON.stringify([conversationId, parentId, author]);
    const isLater = seen.has(branch);
    seen.add(branch);
    return isLater ? { ...one, notAsked: one.notAsked ?? 'new versions of an earlier message' } : one;
  });
}
