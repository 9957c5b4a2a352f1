import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { createIndex } from '../registry.ts';

const buildTurn = (position: number, text: string, attributes: object = {}): Turn => ({
  ...{ id: `t${position}`, conversationId: 'c', parentId: null, channel: null, author: 'ann', text },
  timestamp: position,
  attributes: attributes as NonNullable<Turn['attributes']>,
});

const TURNS = [
  buildTurn(0, 'Kai-Media pays late.'),
  buildTurn(1, 'Order 170 of a kaiser', { entities: ['customer:2', 'media:kai'] }),
  buildTurn(2, 'the box of ORDER #17 was broken, says kai media'),
  buildTurn(3, 'kai media', { status: 'superseded' }),
  buildTurn(4, 'payment is due', { entities: ['customer:1', 'order:18'] }),
];

/** The turns that name some records, as of a moment. */
async function findTurns(records: string[][] | undefined, moment = TURNS.length, visible?: readonly Int32Array[]) {
  const options = { index: 'domain', domain: {}, database: 'shop.duckdb' } as const;
  const index = await createIndex(options, { corpus: new Corpus(TURNS) });
  const asked = [{ entities: [], window: null, procedural: false, ...(records && { records }) }];
  const batch = { texts: ['x'], vectors: new Float32Array(), cutoffs: Int32Array.of(moment), asked };
  const { positions, scores } = await index.search({ ...batch, ...(visible && { visible }) }, 4);
  index.dispose();
  return [...positions].flatMap((position, i) => (position < 0 ? [] : [[position, scores[i]]]));
}

const CUSTOMER = ['customer 1', 'kai media', 'kai'];

test('turns that name more of the records come first, then the newest, none of a later moment', async () => {
  const records = [CUSTOMER, ['order 17'], ['order 18']];
  expect(await findTurns(records)).toEqual([
    [4, 1],
    [2, 1 / 2],
    [0, Math.fround(1 / 3)],
  ]);
  expect(await findTurns(records, 2)).toEqual([[0, 1]]);
  expect(await findTurns(records, 5, [Int32Array.of(0, 3)])).toEqual([[0, 1]]);
});

test('a name is whole words of the text, or of one of the entities that a turn states', async () => {
  expect(await findTurns([['order 17']])).toEqual([[2, 1]]);
  expect(await findTurns([['order 1'], ['2 media'], ['customer 2 media']])).toEqual([]);
  expect(await findTurns([['customer 2']])).toEqual([[1, 1]]);
});

test('a question without records finds nothing, and questions that were not read are an error', async () => {
  expect(await findTurns([])).toEqual([]);
  expect(await findTurns(undefined)).toEqual([]);
  const index = await createIndex({ index: 'domain', domain: {}, database: 'x' }, { corpus: new Corpus(TURNS) });
  const batch = { texts: ['x'], vectors: new Float32Array(), cutoffs: Int32Array.of(1) };
  await expect(index.search(batch, 1)).rejects.toThrow(ValidationError);
});
