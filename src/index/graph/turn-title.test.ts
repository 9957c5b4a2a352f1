import { expect, test } from 'vitest';
import { readTitle } from './turn-title.ts';

test.each([
  [{ title: 'Second Punic War' }, 'Second Punic War'],
  [{ title: 7 }, null],
  [{}, null],
  [undefined, null],
])('the title of a turn with attributes %j is %j', (attributes, title) => {
  const turn = { id: 't', conversationId: 'c', parentId: null, timestamp: 0, author: null, channel: null, text: 'x' };
  expect(readTitle(attributes === undefined ? turn : { ...turn, attributes })).toBe(title);
});
