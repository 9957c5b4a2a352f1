import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createEntityRegistry } from './entity-registry.ts';
import { STRATEGY_WEIGHTS } from './strategy.ts';
import { understand } from './understand.ts';

const moment = { timestamp: Date.UTC(2024, 1, 15, 9), timeZone: 'Europe/Berlin' };
const entities = await createEntityRegistry([{ id: 'customer:acme', name: 'Acme Corporation' }]);

test('a question with its type, entities, time and strategy', async () => {
  expect(await understand('What did Acme Corporation order last month?', { ...moment, entities })).toEqual({
    category: 'factual',
    entityFocused: true,
    timeFocused: true,
    procedural: false,
    requiresDomainDb: true,
    categoryRule: 'no cue',
    entities: [{ mentionText: 'Acme Corporation', canonicalId: 'customer:acme', confidence: 1, match: 'exact' }],
    ambiguous: [],
    unresolved: [],
    timeRange: { start: Date.UTC(2023, 11, 31, 23), end: Date.UTC(2024, 0, 31, 23) },
    strategy: {
      name: 'factual_entity_focused',
      weights: STRATEGY_WEIGHTS.factual_entity_focused,
      rule: 'the question is factual and entity-focused',
    },
  });
});

const FLAGS = ['entityFocused', 'timeFocused', 'procedural', 'requiresDomainDb'] as const;
// The design of retrieval states all flags of the first four, and of the others whether records are needed.
test.each([
  ['What did Acme order?', 'factual entityFocused requiresDomainDb'],
  ['How do I handle rush orders?', 'procedural procedural'],
  ['Tell me about my recent customer interactions', 'exploratory entityFocused timeFocused'],
  ['Why are sales down this quarter?', 'analytical timeFocused requiresDomainDb'],
  ["What's the balance on invoice #123?", 'factual requiresDomainDb'],
  ['How many active customers?', 'factual entityFocused requiresDomainDb'],
  ['What does Acme usually order?', 'factual entityFocused'],
  ['Why did Acme dispute invoice #123?', 'analytical entityFocused'],
  ['Tell me about my relationship with Acme', 'exploratory entityFocused'],
])('%s', async (text, expected) => {
  const known = await createEntityRegistry([{ id: 'customer:acme', name: 'Acme' }]);
  for (const registry of [known, undefined]) {
    const found = await understand(text, { ...moment, entities: registry });
    expect([found.category, ...FLAGS.filter((flag) => found[flag])].join(' ')).toBe(expected);
  }
});

test('a question in another script is factual, without a time', async () => {
  const { category, timeRange, strategy } = await understand('Что мы заказали вчера?', moment);
  expect([category, timeRange, strategy.name]).toEqual(['factual', null, 'exploratory']);
});

test('of 100,000 characters the question at either end is understood', async () => {
  const quoted = 'x y z. '.repeat(15_000);
  for (const text of [`Why did Acme Corporation complain? ${quoted}`, `${quoted} Why did Acme Corporation complain?`]) {
    const { category, entities: found } = await understand(text, { ...moment, entities });
    expect([category, found[0]?.canonicalId]).toEqual(['analytical', 'customer:acme']);
  }
});

test('what cannot be understood is refused', async () => {
  await expect(understand(' \n', moment)).rejects.toThrow('question is empty: " \\n"; pass the text of a question');
  await expect(understand('Why?', { ...moment, timeZone: 'Berlin' })).rejects.toThrow('unknown time zone: "Berlin"');
  const unknown = understand('Why?', { ...moment, entities: 'shop' as never });
  await expect(unknown).rejects.toThrow(ValidationError);
  await expect(unknown).rejects.toThrow('unknown entity registry: "shop"; pass one of createEntityRegistry, or none');
});
