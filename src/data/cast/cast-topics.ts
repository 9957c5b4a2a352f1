import { z } from 'zod';
import { computeHash } from '../../core/hash/hash.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { ORDINARY, type SourceMessage } from '../exports/source-message.ts';
import { id } from '../jsonl/id-schema.ts';
import type { Counts } from '../prepared/counts.ts';
import type { CastQueryText } from '../prepared/datasets.ts';

const turn = z.object({
  number: id,
  parent: id.nullish(),
  participant: z.enum(['User', 'System']),
  utterance: z.string().nullish(),
  response: z.string().nullish(),
  manual_rewritten_utterance: z.string().nullish(),
  automatic_rewritten_utterance: z.string().nullish(),
});
type CastTurn = z.output<typeof turn>;

/** The schema of a file of topic trees, with the rewrites of people or those of a program. */
export const castTopics = z.array(z.object({ number: z.int(), turn: z.array(turn) }));
type CastTopic = z.output<typeof castTopics>[number];

const MINUTE_MILLISECONDS = 60_000;

/**
 * The turns of all topics. The source has no times: each turn gets a minute of its own, topic after topic in the order of the file, within a topic level by level.
 * The order within a level comes from a hash of the ids, so that it does not tell which turn another one follows.
 */
export function listCastMessages(
  topics: readonly CastTopic[],
  queryText: CastQueryText,
  counts: Counts,
): SourceMessage[] {
  counts.add('topics', topics.length);
  const messages: SourceMessage[] = [];
  for (const topic of topics)
    for (const one of orderByLevel(topic))
      messages.push(buildMessage(topic.number, one, messages.length * MINUTE_MILLISECONDS, queryText));
  return messages;
}

function formatId(topic: number, number: string): string {
  return `${topic}_${number}`;
}

/** The turns of a topic, roots first; what reaches no root, and a second turn of a number, come last. */
function orderByLevel({ number, turn: turns }: CastTopic): CastTurn[] {
  const byNumber = new Map<string, CastTurn>();
  for (const one of turns) if (!byNumber.has(one.number)) byNumber.set(one.number, one);
  const children = new Map<string | null, CastTurn[]>();
  for (const one of byNumber.values()) {
    const parent = typeof one.parent === 'string' && byNumber.has(one.parent) ? one.parent : null;
    const list = children.get(parent);
    if (list === undefined) children.set(parent, [one]);
    else list.push(one);
  }
  const keys = new Map(turns.map((one) => [one, computeHash(formatId(number, one.number))]));
  const getKey = (one: CastTurn) => keys.get(one) as string;
  const placed = new Set<CastTurn>();
  for (let level = children.get(null) ?? []; level.length > 0; ) {
    for (const one of [...level].sort((a, b) => compareBytes(getKey(a), getKey(b)))) placed.add(one);
    level = level.flatMap((one) => children.get(one.number) ?? []);
  }
  return [...placed, ...turns.filter((one) => !placed.has(one))];
}

function buildMessage(topic: number, one: CastTurn, time: number, queryText: CastQueryText): SourceMessage {
  const isByPerson = one.participant === 'User';
  const text = (isByPerson ? one.utterance : one.response) ?? '';
  const rewritten = one.manual_rewritten_utterance ?? one.automatic_rewritten_utterance;
  return {
    ...ORDINARY,
    id: formatId(topic, one.number),
    conversationId: String(topic),
    parentId: typeof one.parent === 'string' ? formatId(topic, one.parent) : null,
    time,
    author: one.participant,
    channel: null,
    text,
    ...(queryText === 'rewritten' && typeof rewritten === 'string' ? { queryText: rewritten } : {}),
    byPerson: isByPerson,
  };
}
