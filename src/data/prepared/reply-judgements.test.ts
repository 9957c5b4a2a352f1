import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { ReplyJudgements, replyQuery } from './reply-judgements.ts';

const buildTurn = (id: string, parentId: string | null, timestamp: number, conversationId = 't'): Turn => ({
  id,
  parentId,
  timestamp,
  conversationId,
  author: null,
  channel: null,
  text: id,
});

function judge(turns: readonly Turn[]): ReplyJudgements {
  const corpus = new Corpus(turns);
  const replies = corpus.turns.filter(({ parentId }) => parentId !== null);
  return new ReplyJudgements(
    corpus,
    replies.map((reply) => replyQuery(reply, 'dev', reply.conversationId)),
  );
}

describe('ReplyJudgements', () => {
  const judgements = judge([
    buildTurn('root', null, 1),
    buildTurn('aunt', 'root', 2),
    buildTurn('grandparent', 'root', 3),
    buildTurn('parent', 'grandparent', 4),
    buildTurn('sister', 'parent', 5),
    buildTurn('elsewhere', null, 6, 'u'),
    buildTurn('reply', 'parent', 7),
    buildTurn('twin', 'parent', 7),
    buildTurn('later', 'reply', 11),
  ]);

  it('grades parent, ancestors and the strictly earlier rest of the thread', () => {
    const grades = judgements.get('q-reply');
    expect([...(grades ?? [])]).toEqual([
      ['root', 2],
      ['aunt', 1],
      ['grandparent', 2],
      ['parent', 3],
      ['sister', 1],
    ]);
    expect(grades?.size).toBe(5);
    expect(['parent', 'reply', 'twin', 'elsewhere', 'none'].map((id) => grades?.get(id))).toEqual([
      3,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is a map by query', () => {
    const ids = ['aunt', 'grandparent', 'parent', 'sister', 'reply', 'twin', 'later'].map((id) => `q-${id}`);
    expect([...judgements.keys()]).toEqual(ids);
    expect([judgements.size, judgements.has('q-aunt'), judgements.has('q-root')]).toEqual([7, true, false]);
    const sizes: [string, number][] = [];
    judgements.forEach((grades, id) => {
      sizes.push([id, [...grades.values()].length]);
    });
    expect(sizes).toEqual(ids.map((id, i) => [id, [1, 2, 3, 4, 5, 5, 7][i]]));
  });

  it('grades as walking up from the reply does', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 2, maxLength: 31 }), (picks) => {
        const turns = picks.map((pick, i) => buildTurn(`t${i}`, i === 0 || pick % 7 === 0 ? null : `t${pick % i}`, i));
        for (const [queryId, grades] of judge(turns)) {
          const place = Number(queryId.slice('q-t'.length));
          const expected = new Map(turns.slice(0, place).map(({ id }) => [id, 1]));
          const parentId = turns[place]?.parentId ?? null;
          for (let at = parentId; at !== null; at = turns[Number(at.slice(1))]?.parentId ?? null)
            expected.set(at, at === parentId ? 3 : 2);
          expect([...grades]).toEqual([...expected]);
        }
      }),
    );
  });

  it('holds a thread of 50,000 replies, each to the one before it', () => {
    const size = 50_000;
    const judged = judge(Array.from({ length: size }, (_, i) => buildTurn(`t${i}`, i === 0 ? null : `t${i - 1}`, i)));
    const last = judged.get(`q-t${size - 1}`);
    expect([last?.size, last?.get('t0'), last?.get(`t${size - 2}`)]).toEqual([size - 1, 2, 3]);
    expect([...judged.keys()]).toHaveLength(size - 1);
  });
});
