import { expect, test } from 'vitest';
import { letEventsIn } from '../terminal/progress.ts';
import { createSerialRunner, getOrCompute, once } from './once.ts';

test('a value is computed when it is asked for, and once, also where it is undefined', () => {
  const calls: number[] = [];
  const value = once(() => void calls.push(7));
  expect(calls).toEqual([]);
  expect([value(), value()]).toEqual([undefined, undefined]);
  expect(calls).toEqual([7]);
});

test('what throws is tried again', () => {
  let tries = 0;
  const value = once(() => {
    tries += 1;
    if (tries === 1) throw new Error('not yet');
    return tries;
  });
  expect(value).toThrow('not yet');
  expect([value(), value()]).toEqual([2, 2]);
});

test('the value of a key is computed once, also where it is undefined', () => {
  const kept = new Map<string, number | undefined>([['seven', 7]]);
  const asked: string[] = [];
  const lengthOf = (key: string) => {
    asked.push(key);
    return key === '' ? undefined : key.length;
  };
  const values = ['seven', 'eleven', '', 'eleven', ''].map((key) => getOrCompute(kept, key, lengthOf));
  expect(values).toEqual([7, 6, undefined, 6, undefined]);
  expect(asked).toEqual(['eleven', '']);
  expect([...kept]).toEqual([
    ['seven', 7],
    ['eleven', 6],
    ['', undefined],
  ]);
});

test('a key whose computation throws is tried again', () => {
  const kept = new Map<string, number>();
  const fail = () => {
    throw new Error('not yet');
  };
  expect(() => getOrCompute(kept, 'key', fail)).toThrow('not yet');
  expect(kept.size).toBe(0);
  expect(getOrCompute(kept, 'key', () => 3)).toBe(3);
});

test('work begins in the order asked for, when all before it is over', async () => {
  const inTurn = createSerialRunner();
  const events: string[] = [];
  const createWork = (name: string, breaks: number) => async () => {
    events.push(`${name} begins`);
    for (let i = 0; i < breaks; i++) await letEventsIn();
    events.push(`${name} ends`);
    return name;
  };
  expect(
    await Promise.all([inTurn(createWork('a', 5)), inTurn(createWork('b', 0)), inTurn(createWork('c', 2))]),
  ).toEqual(['a', 'b', 'c']);
  expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('who asked for what fails hears of it, and nobody else', async () => {
  const inTurn = createSerialRunner();
  const failing = inTurn(() => Promise.reject(new Error('broken')));
  const next = inTurn(async () => 7);
  await expect(failing).rejects.toThrow(/^broken$/);
  expect(await next).toBe(7);
});
