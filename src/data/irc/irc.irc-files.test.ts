import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { parseIrcLinks } from './irc.ts';

test('each line answers what it is linked to, whichever end stands first; once, ascending, never itself', () => {
  const answers = parseIrcLinks('3 5 - \n5 2 -\n7 7 -\n3 5 -\n\n5 11 - \n7 11 -\n', 'x', 12);
  expect([...answers]).toEqual([
    [5, [2, 3]],
    [11, [5, 7]],
  ]);
});

test.each([
  ['3 5 -\n3 five -', 'x:2: not a link: 3 five -; write it as: earlier later -'],
  ['3 5', 'x:1: not a link: 3 5; write it as: earlier later -'],
  ['3 5 -\n\n5 13 -', 'x:3: link to line 13 of a log with 13 lines; correct the link'],
])('refuses %j', (text, message) => {
  expect(() => parseIrcLinks(text, 'x', 13)).toThrow(ValidationError);
  expect(() => parseIrcLinks(text, 'x', 13)).toThrow(message);
});
