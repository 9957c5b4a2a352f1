import { expect, test } from 'vitest';
import { replaceByBlanks } from './addresses.ts';

test.each([
  ['see http://x.org/2002/09/08 now', 'see                         now'],
  ['WWW.example.com', '               '],
  ['from ann@x.org, <bob@y.net> and me', 'from                        and me'],
  ['a: b // c at d. e', 'a: b // c at d. e'],
  ['', ''],
])('%s', (text, expected) => {
  expect(replaceByBlanks(text)).toBe(expected);
});
