import { describe, expect, it } from 'vitest';
import { Conversation } from '../model/conversation.ts';
import { judgeReply } from './judgements.ts';

describe('judgeReply', () => {
  it('grades parent, ancestors and the strictly earlier rest of the thread', () => {
    const turn = (id: string, parentId: string | null, timestamp: number) => ({
      id,
      parentId,
      timestamp,
      conversationId: 't',
      author: null,
      channel: null,
      text: id,
    });
    const conversation = new Conversation('t', [
      turn('root', null, 1),
      turn('aunt', 'root', 2),
      turn('grandparent', 'root', 3),
      turn('parent', 'grandparent', 4),
      turn('sister', 'parent', 5),
      turn('reply', 'parent', 7),
      turn('twin', 'parent', 7),
      turn('later', 'reply', 11),
    ]);
    expect(Object.fromEntries(judgeReply(conversation, 'reply'))).toEqual({
      root: 2,
      aunt: 1,
      grandparent: 2,
      parent: 3,
      sister: 1,
    });
  });
});
