import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { Counts } from '../prepared/counts.ts';
import type { OasstMessage, OasstTree } from './oasst-schema.ts';

/** A message as a turn. */
export interface OasstTurn {
  readonly turn: Turn;
  /** False if the answered message is missing: the parent is then an older message, or none. */
  readonly answers: boolean;
}

const MINUTE_MILLISECONDS = 60_000;

/** A message and its parent. */
interface Hung {
  readonly message: OasstMessage;
  readonly parentId: string | null;
  /** The prompt answers nothing; a message below an excluded message does not answer its parent. */
  readonly answers: boolean;
}

/**
 * The messages of all trees. The source has no times, so they are synthetic: a minute for each message, tree after tree in the order of the file, within a tree
 * level by level, within a level by id. Siblings must not be adjacent: the time of a message would reveal the message that it answers. Deleted
 * messages and messages without a text are excluded; their answers become children of the message above.
 */
export function buildOasstTurns(trees: readonly OasstTree[], counts: Counts): OasstTurn[] {
  for (const skipped of ['deleted messages', 'messages without a text']) counts.add(`skipped: ${skipped}`, 0);
  const turns: OasstTurn[] = [];
  for (const { message_tree_id, prompt } of trees) {
    let level: readonly Hung[] = [{ message: prompt, parentId: null, answers: false }];
    while (level.length > 0) {
      for (const hung of level) {
        const skipped = findSkipReason(hung.message);
        if (skipped !== null) counts.add(`skipped: ${skipped}`);
        else
          turns.push({
            turn: buildOasstTurn(hung, message_tree_id, turns.length * MINUTE_MILLISECONDS),
            answers: hung.answers,
          });
      }
      level = level.flatMap(hangReplies).sort((a, b) => compareBytes(a.message.message_id, b.message.message_id));
    }
  }
  return turns;
}

function findSkipReason({ deleted, text }: OasstMessage): 'deleted messages' | 'messages without a text' | null {
  if (deleted === true) return 'deleted messages';
  return text.trim() === '' ? 'messages without a text' : null;
}

function buildOasstTurn({ message, parentId }: Hung, tree: string, timestamp: number): Turn {
  return {
    id: message.message_id,
    conversationId: tree,
    parentId,
    timestamp,
    author: message.role,
    channel: null,
    text: message.text,
  };
}

/** The replies to a message. */
function hangReplies({ message, parentId }: Hung): Hung[] {
  const answers = findSkipReason(message) === null;
  return (message.replies ?? []).map((reply) => ({
    message: reply,
    parentId: answers ? message.message_id : parentId,
    answers,
  }));
}
