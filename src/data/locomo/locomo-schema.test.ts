import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { buildLocomoSamples } from './locomo.fixture.ts';
import { computeTurnTimes, parseDialogueKeys, parseSessionTime, readSample, repairEvidence } from './locomo-schema.ts';

const turn = { speaker: 'Ana', dia_id: 'D1:1', text: 'Beans.' };
const conversation = { session_1: [turn], session_1_date_time: '1:56 pm on 8 May, 2023' };
const sample = { sample_id: 'conv-3', conversation, qa: [] };

function listSampleFaults(input: unknown): string[] {
  try {
    readSample(input, '[4]', 'my.json');
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return (error as Error).message.split('\n');
  }
  return [];
}

describe('readSample', () => {
  it('reads sessions by number, and questions by the names of their categories', () => {
    const { id, sessions, sparseTimes, questions } = readSample(buildLocomoSamples()[0], '[0]', 'my.json');
    expect([id, sparseTimes]).toEqual(['conv-7', 1]);
    expect(sessions.map(({ number, turns }) => [number, turns.length])).toEqual([
      [1, 5],
      [2, 1],
      [3, 0],
    ]);
    expect(sessions[0]?.time).toBe(Date.UTC(2023, 1, 28, 23, 58));
    expect(questions.map(({ category }) => category)).toEqual([
      'single-hop',
      'temporal',
      'open-domain',
      'multi-hop',
      'adversarial',
      'multi-hop',
    ]);
    expect(questions[5]).toEqual({ text: 'Why?', category: 'multi-hop', evidence: [] });
    expect(readSample(buildLocomoSamples()[1], '[1]', 'my.json').sessions.map(({ number }) => number)).toEqual([2, 10]);
  });

  it('keeps nothing that a language model wrote, and no address of a picture', () => {
    const text = JSON.stringify(readSample(buildLocomoSamples()[0], '[0]', 'my.json'));
    expect(text).not.toMatch(/grows beans|They speak|img_url|query/);
  });

  it('needs no questions', () => {
    expect(readSample({ sample_id: 'conv-3', conversation }, '[0]', 'my.json').questions).toEqual([]);
  });

  it.each([
    ['no object', 7, '[4]', '(top level): expected object, got 7'],
    ['no id', { conversation }, '[4]', 'sample_id: expected string, got nothing'],
    [
      'an id with a space',
      { ...sample, sample_id: 'a b' },
      '[4]',
      'sample_id: expected an id without spaces, got "a b"',
    ],
    ['no conversation', { sample_id: 'conv-3' }, 'conv-3', 'conversation: expected record, got nothing'],
    [
      'a session without a time',
      { ...sample, conversation: { session_1: [turn] } },
      'conv-3',
      'conversation.session_1_date_time: expected a time such as "1:56 pm on 8 May, 2023", got nothing',
    ],
    [
      'a time of another form',
      { ...sample, conversation: { ...conversation, session_1_date_time: '2023-05-08' } },
      'conv-3',
      'conversation.session_1_date_time: expected a time such as "1:56 pm on 8 May, 2023", got "2023-05-08"',
    ],
    [
      'a dialogue id that is none',
      { ...sample, conversation: { ...conversation, session_1: [turn, { ...turn, dia_id: '1' }] } },
      'conv-3',
      'conversation.session_1[1].dia_id: expected a dialogue id such as D3:7, got "1"',
    ],
    [
      'a turn without a speaker',
      { ...sample, conversation: { ...conversation, session_1: [{ dia_id: 'D1:1', text: 'x' }] } },
      'conv-3',
      'conversation.session_1[0].speaker: expected string, got nothing',
    ],
    [
      'a category that is none',
      { ...sample, qa: [{ question: 'Why?', category: 6 }] },
      'conv-3',
      'qa[0].category: expected number <= 5, got 6',
    ],
    [
      'an empty question',
      { ...sample, qa: [{ question: ' ', category: 1 }] },
      'conv-3',
      'qa[0].question: expected a text that is not empty, got " "',
    ],
    [
      'evidence that is no list',
      { ...sample, qa: [{ question: 'Why?', category: 1, evidence: 'D1:1' }] },
      'conv-3',
      'qa[0].evidence: expected array, got "D1:1"',
    ],
  ])('refuses %s', (_, input, name, fault) => {
    expect(listSampleFaults(input)).toEqual([
      `1 error in sample ${name} of my.json; correct and run again:`,
      `  ${fault}`,
    ]);
  });

  it('names all faults of its sessions at once', () => {
    const faulty = { ...sample, conversation: { session_1: [{ ...turn, text: 5 }, 'x'], session_1_date_time: 0 } };
    expect(listSampleFaults(faulty)[0]).toBe('3 errors in sample conv-3 of my.json; correct and run again:');
  });

  it('shows 20 faults, and tells how many more there are', () => {
    const session = { session_1: Array.from({ length: 23 }, () => ({ ...turn, text: 5 })) };
    const lines = listSampleFaults({ ...sample, conversation: { ...conversation, ...session } });
    expect([lines[0], lines.length, lines.at(-1)]).toEqual([
      '23 errors in sample conv-3 of my.json; correct and run again:',
      22,
      '  and 3 more',
    ]);
  });
});

describe('parseDialogueKeys', () => {
  it.each([
    ['D3:7', ['3:7']],
    ['D8:6; D9:17', ['8:6', '9:17']],
    ['D9:1 D4:4 D4:6', ['9:1', '4:4', '4:6']],
    ['D30:05', ['30:5']],
    ['D:11:26', ['11:26']],
    ['D10:200', ['10:200']],
    ['D', []],
    ['3:7', []],
    ['', []],
  ])('reads %j', (text, keys) => {
    expect(parseDialogueKeys(text)).toEqual(keys);
  });
});

describe('repairEvidence', () => {
  const turns = new Map([
    ['1:2', 'x/D1:2'],
    ['1:3', 'x/D1:3'],
    ['11:26', 'x/D11:26'],
  ]);

  it('names each turn that is there once, and counts the rest', () => {
    expect(repairEvidence(['D:11:26', 'D1:3; D1:7', 'D', 'D1:03', 'D2:1', 'D2:1'], turns)).toEqual({
      turnIds: ['x/D11:26', 'x/D1:3'],
      unknown: 2,
      empty: 1,
    });
  });

  it('may find nothing', () => {
    expect(repairEvidence([], turns)).toEqual({ turnIds: [], unknown: 0, empty: 0 });
  });
});

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
