import { describe, expect, it } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { buildLocomoSamples } from './locomo.fixture.ts';
import { readSample } from './locomo-schema.ts';

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
