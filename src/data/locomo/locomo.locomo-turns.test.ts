import { describe, expect, it } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { Counts } from '../prepared/prepared.ts';
import { buildLocomoSamples } from './locomo.fixture.ts';
import { buildLocomoConversation } from './locomo.ts';
import { readSample } from './locomo-schema.ts';

function read(input: unknown) {
  const counts = new Counts();
  return {
    ...buildLocomoConversation(readSample(input, '[0]', 'my.json'), 'my.json', counts),
    facts: counts.toFacts(),
  };
}
const buildSaidTurn = (dia_id: string, text: string | null) => ({ speaker: 'Ana', dia_id, text });

describe('conversationOf', () => {
  const { turns, byKey, facts } = read(buildLocomoSamples()[0]);

  it('is one line of turns across sessions, captions below the text, empty turns left out', () => {
    expect(turns.map(({ id, parentId, text }) => [id, parentId, text])).toEqual([
      ['conv-7/D1:1', null, 'I planted beans.'],
      ['conv-7/D1:2', 'conv-7/D1:1', 'Look!\na photo of a red shed'],
      ['conv-7/D1:3', 'conv-7/D1:2', 'a bowl of soup'],
      ['conv-7/D1:5', 'conv-7/D1:3', 'Tasty.'],
      ['conv-7/D2:1', 'conv-7/D1:5', 'The shed burnt down.'],
    ]);
    expect(turns[4]).toEqual({
      id: 'conv-7/D2:1',
      conversationId: 'conv-7',
      parentId: 'conv-7/D1:5',
      timestamp: Date.UTC(2023, 2, 1, 0, 5),
      author: 'Ben',
      channel: 'conv-7/session_2',
      text: 'The shed burnt down.',
    });
    expect(turns.map(({ timestamp }) => timestamp - (turns[0]?.timestamp as number))).toEqual([
      0, 30_000, 60_000, 90_000, 420_000,
    ]);
  });

  it('finds turns by their dialogue ids', () => {
    expect([...byKey.keys()]).toEqual(['1:1', '1:2', '1:3', '1:5', '2:1']);
    expect(byKey.get('2:1')).toBe('conv-7/D2:1');
  });

  it('counts what it met', () => {
    expect(facts).toEqual({
      sessions: 3,
      'sessions without a turn': 1,
      'sessions earlier than the number before theirs': 0,
      'times without a session': 1,
      'turns with a picture': 2,
      'skipped: turns without a text': 1,
    });
  });

  it('goes by times where the numbers of sessions say otherwise', () => {
    const conversation = {
      session_1: [buildSaidTurn('D1:1', 'last')],
      session_1_date_time: '1:00 pm on 9 May, 2023',
      session_2: [buildSaidTurn('D2:1', 'first'), buildSaidTurn('D2:2', 'second')],
      session_2_date_time: '1:00 pm on 8 May, 2023',
      session_3: [buildSaidTurn('D3:1', 'third')],
      session_3_date_time: '1:00 pm on 8 May, 2023',
    };
    const late = read({ sample_id: 'x', conversation });
    expect(late.turns.map(({ text }) => text)).toEqual(['first', 'second', 'third', 'last']);
    expect(late.facts['sessions earlier than the number before theirs']).toBe(1);
  });

  it.each([
    [
      'a dialogue id twice, also written otherwise',
      [buildSaidTurn('D1:1', 'a'), buildSaidTurn('D1:01', 'b')],
      'dialogue id is repeated in sample x of my.json: D1:01; rename one',
    ],
    ['no turn with a text', [buildSaidTurn('D1:1', null)], 'sample x of my.json has no turn; remove the sample'],
  ])('refuses %s', (_, session_1, message) => {
    const input = { sample_id: 'x', conversation: { session_1, session_1_date_time: '1:00 pm on 9 May, 2023' } };
    expect(() => read(input)).toThrow(ValidationError);
    expect(() => read(input)).toThrow(message);
  });
});
