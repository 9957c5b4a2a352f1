import { expect, test } from 'vitest';
import { letEventsIn } from './event-loop.ts';
import { createSerialRunner } from './one-at-a-time.ts';

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
