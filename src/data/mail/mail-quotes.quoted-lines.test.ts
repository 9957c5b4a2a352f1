import { describe, expect, it } from 'vitest';
import { EarlierBodies } from './mail-quotes.ts';

const numberWords = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `w${from + i}`).join(' ');

/** What stays of `lines` after a body was said, by comparing every run with every run. */
function selectUnsaidSlowly(body: string, lines: readonly string[]): string[] {
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
  const rememberBody = (body: string) => {
    const earlier = new EarlierBodies();
    earlier.add(body);
    return { selectUnsaidLines: (lines: readonly string[]) => earlier.compareLines(lines).unsaid };
  };

  it('drops lines of an earlier body, also if they are wrapped differently', () => {
    expect(
      rememberBody(numberWords(0, 23)).selectUnsaidLines([
        numberWords(2, 9),
        numberWords(9, 14),
        'new words of my own',
      ]),
    ).toEqual(['new words of my own']);
  });

  it('keeps what is shared by fewer than eight words in a row', () => {
    expect(rememberBody(numberWords(0, 23)).selectUnsaidLines([numberWords(0, 7)])).toEqual([numberWords(0, 7)]);
  });

  it.each([
    ['just half is covered', 16, []],
    ['less than half is covered', 17, [`${numberWords(0, 8)} ${numberWords(100, 109)}`]],
  ])('decides where %s', (_, size, kept) => {
    expect(
      rememberBody(numberWords(0, 8)).selectUnsaidLines([`${numberWords(0, 8)} ${numberWords(100, 92 + size)}`]),
    ).toEqual(kept);
  });

  it('keeps lines without words', () => {
    expect(rememberBody(numberWords(0, 23)).selectUnsaidLines(['', '***'])).toEqual(['', '***']);
  });

  it('knows only what was added', () => {
    expect(new EarlierBodies().compareLines([numberWords(0, 11)]).unsaid).toEqual([numberWords(0, 11)]);
  });

  it('agrees with a comparison of all runs', () => {
    const body = Array.from({ length: 211 }, (_, i) => `w${(i * 7) % 31}`).join(' ');
    const lines = Array.from({ length: 13 }, (_, i) =>
      Array.from({ length: 5 + i }, (_, k) => (k % (i + 2) === 1 ? `x${i}` : `w${((3 * i + k) * 7) % 31}`)).join(' '),
    );
    expect(rememberBody(body).selectUnsaidLines(lines)).toEqual(selectUnsaidSlowly(body, lines));
    expect(rememberBody(body).selectUnsaidLines(lines).length).toBeGreaterThan(0);
    expect(rememberBody(body).selectUnsaidLines(lines).length).toBeLessThan(lines.length);
  });
});
