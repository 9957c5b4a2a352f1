import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { parseOasst } from './oasst-schema.ts';

const REPLY = { message_id: 'b', text: 'four', role: 'assistant', rank: 0, parent_id: 'a', replies: [] };
const TREE = { message_tree_id: 'a', prompt: { message_id: 'a', text: 'eggs?', role: 'prompter', replies: [REPLY] } };

test('a line is a tree of what is read of its messages', () => {
  const second = { message_tree_id: 'c', tree_state: 'x', prompt: { message_id: 'c', text: '', role: 'prompter' } };
  expect([TREE, second].map((tree) => parseOasst(JSON.stringify(tree), 'x:1'))).toEqual([
    {
      message_tree_id: 'a',
      prompt: {
        message_id: 'a',
        text: 'eggs?',
        role: 'prompter',
        replies: [{ message_id: 'b', text: 'four', role: 'assistant', replies: [] }],
      },
    },
    { message_tree_id: 'c', prompt: { message_id: 'c', text: '', role: 'prompter' } },
  ]);
});

const encodeReply = (reply: object) => JSON.stringify({ ...TREE, prompt: { ...TREE.prompt, replies: [reply] } });

test.each([
  ['{"message', 'x:2: not JSON: {"message; name a file of message trees'],
  [JSON.stringify(TREE.prompt), 'x:2: message_tree_id: expected string (and 1 more), got nothing; correct the tree'],
  [
    encodeReply({ ...REPLY, role: 'user' }),
    'x:2: prompt.replies[0].role: expected "prompter" or "assistant", got "user"; correct the tree',
  ],
  [encodeReply({ ...REPLY, text: 7 }), 'x:2: prompt.replies[0].text: expected string, got 7; correct the tree'],
  [
    encodeReply({ ...REPLY, message_id: 'b\ud83d' }),
    'x:2: prompt.replies[0].message_id: expected an id of well-formed Unicode, got "b\\ud83d"; correct the tree',
  ],
  [`${'['.repeat(5000)}${']'.repeat(5000)}`, 'x:2: nested 5000 deep, where at most 256 is read: [[['],
  [
    encodeReply({ ...REPLY, message_id: 'b c' }),
    'x:2: prompt.replies[0].message_id: expected an id without spaces, got "b c"; correct the tree',
  ],
])('refuses a line that is no tree: %s', (line, message) => {
  expect(() => parseOasst(line, 'x:2')).toThrow(ValidationError);
  expect(() => parseOasst(line, 'x:2')).toThrow(message);
});
