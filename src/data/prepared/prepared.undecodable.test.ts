import { expect, test } from 'vitest';
import { Counts, countUndecodable } from './prepared.ts';

test('texts are counted once each', () => {
  const counts = new Counts();
  const bytes = new TextDecoder().decode(Uint8Array.of(0x61, 0xff, 0xfe));
  countUndecodable(
    [bytes, 'a\ud83d', '\ude00', 'eggs', '\u{1f600}', 'é'].map((text) => ({ text })),
    counts,
  );
  expect(counts.toFacts()).toEqual({ 'texts with undecodable characters': 3 });
});

test('that there are none is counted too', () => {
  const counts = new Counts();
  countUndecodable([], counts);
  expect(counts.toFacts()).toEqual({ 'texts with undecodable characters': 0 });
});
