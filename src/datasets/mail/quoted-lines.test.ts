import { describe, expect, it } from 'vitest';
import { EarlierBodies } from './quoted-lines.ts';
import { Vocabulary } from './shingles.ts';

const words = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `w${from + i}`).join(' ');

/** What stays of `lines` after a body was said, by comparing every run with every run. */
function unsaidSlowly(body: string, lines: readonly string[]): string[] {
  const said = body.split(' ');
  const own = lines.flatMap((line, i) => line.split(' ').map((word) => ({ word, line: i })));
  const covered = own.map(() => false);
  for (let i = 0; i + 8 <= own.length; i++)
    for (let j = 0; j + 8 <= said.length; j++)
      if (own.slice(i, i + 8).every(({ word }, k) => word === said[j + k])) covered.fill(true, i, i + 8);
  return lines.filter((_, i) => {
    const mine = covered.filter((_, k) => own[k]?.line === i);
    return mine.filter(Boolean).length < mine.length / 2;
  });
}

describe('EarlierBodies', () => {
  const havingSaid = (body: string) => {
    const earlier = new EarlierBodies(new Vocabulary());
    earlier.add(body);
    return earlier;
  };

  it('drops lines of an earlier body, also if they are wrapped differently', () => {
    expect(havingSaid(words(0, 23)).unsaid([words(2, 9), words(9, 14), 'new words of my own'])).toEqual([
      'new words of my own',
    ]);
  });

  it('keeps what is shared by fewer than eight words in a row', () => {
    expect(havingSaid(words(0, 23)).unsaid([words(0, 7)])).toEqual([words(0, 7)]);
  });

  it.each([
    ['just half is covered', 16, []],
    ['less than half is covered', 17, [`${words(0, 8)} ${words(100, 109)}`]],
  ])('decides where %s', (_, size, kept) => {
    expect(havingSaid(words(0, 8)).unsaid([`${words(0, 8)} ${words(100, 92 + size)}`])).toEqual(kept);
  });

  it('keeps lines without words', () => {
    expect(havingSaid(words(0, 23)).unsaid(['', '***'])).toEqual(['', '***']);
  });

  it('knows only what was added', () => {
    expect(new EarlierBodies(new Vocabulary()).unsaid([words(0, 11)])).toEqual([words(0, 11)]);
  });

  it('agrees with a comparison of all runs', () => {
    const body = Array.from({ length: 211 }, (_, i) => `w${(i * 7) % 31}`).join(' ');
    const lines = Array.from({ length: 13 }, (_, i) =>
      Array.from({ length: 5 + i }, (_, k) => (k % (i + 2) === 1 ? `x${i}` : `w${((3 * i + k) * 7) % 31}`)).join(' '),
    );
    expect(havingSaid(body).unsaid(lines)).toEqual(unsaidSlowly(body, lines));
    expect(havingSaid(body).unsaid(lines).length).toBeGreaterThan(0);
    expect(havingSaid(body).unsaid(lines).length).toBeLessThan(lines.length);
  });
});
