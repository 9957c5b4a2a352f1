import type { Conversation } from '../model/conversation.ts';

/** Grades of a reply's judgements. */
export const PARENT = 3;
export const ANCESTOR = 2;
export const SAME_THREAD = 1;

/** What people call them. */
export const GRADE_NAMES: Readonly<Record<number, string>> = {
  [PARENT]: 'parent',
  [ANCESTOR]: 'ancestor',
  [SAME_THREAD]: 'same thread',
};

/** What is relevant to a reply that looks for its thread: parent 3, other ancestors 2, other strictly earlier turns of the thread 1. */
export function judgeReply(conversation: Conversation, turnId: string): Map<string, number> {
  const reply = conversation.turn(turnId);
  const grades = new Map<string, number>();
  for (const turn of conversation.turns) {
    if (turn.timestamp >= reply.timestamp) break;
    grades.set(turn.id, SAME_THREAD);
  }
  for (let at = reply.parentId; at !== null; at = conversation.turn(at).parentId)
    grades.set(at, at === reply.parentId ? PARENT : ANCESTOR);
  return grades;
}
