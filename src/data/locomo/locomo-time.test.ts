import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { computeTurnTimes, parseSessionTime } from './locomo-time.ts';

describe('parseSessionTime', () => {
  it.each([
    ['1:56 pm on 8 May, 2023', '2023-05-08T13:56:00.000Z'],
    ['10:37 am on 27 June, 2023', '2023-06-27T10:37:00.000Z'],
    ['12:09 am on 13 September, 2023', '2023-09-13T00:09:00.000Z'],
    ['12:30 pm on 29 February, 2024', '2024-02-29T12:30:00.000Z'],
  ])('reads %s', (text, iso) => {
    expect(new Date(parseSessionTime(text) as number).toISOString()).toBe(iso);
  });

  it.each([
    '',
    '1:56 pm, 8 May 2023',
    '13:56 pm on 8 May, 2023',
    '0:56 am on 8 May, 2023',
    '1:60 pm on 8 May, 2023',
    '1:56 pm on 31 April, 2023',
    '1:56 pm on 0 May, 2023',
    '1:56 pm on 8 Mai, 2023',
    'at 1:56 pm on 8 May, 2023',
    '1:56 pm on 8 May, 2023 or so',
  ])('refuses %j', (text) => {
    expect(parseSessionTime(text)).toBeNull();
  });
});

describe('turnTimes', () => {
  it('gives half a minute to a turn, less where the next session is near', () => {
    expect(
      computeTurnTimes([
        { time: 1000, turns: 3 },
        { time: 91_000, turns: 3 },
        { time: 180_999, turns: 2 },
      ]),
    ).toEqual([
      [1000, 31_000, 61_000],
      [91_000, 120_999, 150_998],
      [180_999, 210_999],
    ]);
  });

  it('moves a session behind the last turn of one at the same time', () => {
    expect(
      computeTurnTimes([
        { time: 7, turns: 3 },
        { time: 7, turns: 2 },
        { time: 8, turns: 1 },
      ]),
    ).toEqual([[7, 8, 9], [10, 11], [12]]);
  });

  it('rises strictly, and no session begins early', () => {
    const session = fc.record({ time: fc.integer({ min: 0, max: 100_000 }), turns: fc.integer({ min: 1, max: 7 }) });
    fc.assert(
      fc.property(fc.array(session, { maxLength: 11 }), (sessions) => {
        const ordered = [...sessions].sort((a, b) => a.time - b.time);
        const times = computeTurnTimes(ordered);
        expect(times.map((turns) => turns.length)).toEqual(ordered.map(({ turns }) => turns));
        for (const [i, { time }] of ordered.entries()) expect(times[i]?.[0]).toBeGreaterThanOrEqual(time);
        const all = times.flat();
        for (const [i, time] of all.entries()) expect(time).toBeGreaterThan(all[i - 1] ?? -1);
      }),
    );
  });
});
