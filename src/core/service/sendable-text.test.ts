import { expect, test } from 'vitest';
import { SensitiveTextError } from '../errors/errors.ts';
import { assertSendable, type SendableText, withholdSensitive } from './sendable-text.ts';

interface Item {
  readonly id: string;
  readonly text: string;
  readonly attributes?: { readonly sensitive: boolean };
}

const isSensitive = ({ attributes }: Item) => attributes?.sensitive === true;

const ITEMS: readonly Item[] = [
  { id: 'a', text: 'lentils', attributes: { sensitive: false } },
  { id: 'b', text: 'the pin is 4711', attributes: { sensitive: true } },
  { id: 'c', text: 'beans' },
];

test('items are divided by their attribute, in order', () => {
  const { sendable, withheld } = withholdSensitive(ITEMS, isSensitive);
  expect(sendable.map(({ id }) => id)).toEqual(['a', 'c']);
  expect(withheld).toEqual([ITEMS[1]]);
});

test('one sensitive item refuses all, and the error holds no text', () => {
  expect(assertSendable([ITEMS[0]!, ITEMS[2]!], isSensitive, 'x')).toHaveLength(2);
  const refuse = () => assertSendable(ITEMS, isSensitive, 'encoder x');
  expect(refuse).toThrow(SensitiveTextError);
  expect(refuse).toThrow(/^encoder x sends texts off this machine, and 1 of 3 are sensitive; leave out/);
  expect(refuse).not.toThrow(/4711/);
});

test('the compiler refuses a text that did not pass the gate', () => {
  // @ts-expect-error a plain string is not sendable
  const text: SendableText = 'the pin is 4711';
  expect(text).toBe('the pin is 4711');
});
