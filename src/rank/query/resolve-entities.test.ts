import { expect, test } from 'vitest';
import { ConfigurationError } from '../../core/errors/errors.ts';
import type { Encoder } from '../../model/encoder.ts';
import { createEntityRegistry } from './entity-registry.ts';
import { resolveEntities } from './resolve-entities.ts';

const ENTRIES = [
  { id: 'customer:acme', name: 'Acme Corporation', aliases: ['Acme'] },
  { id: 'person:chris-novak', name: 'Chris Novak', aliases: ['Chris'] },
  { id: 'person:chris-adeyemi', name: 'Chris Adeyemi', aliases: ['Chris'] },
  { id: 'person:will', name: 'Will Barker', aliases: ['Will'] },
  { id: 'person:may', name: 'May Chen', aliases: ['May'] },
  { id: 'hospital', name: "St Mary's Hospital" },
  { id: 'service', name: 'payments-gateway' },
  { id: 'lamp', name: 'Aurora Lamp' },
];
const registry = await createEntityRegistry(ENTRIES);
const resolve = async (text: string) => {
  const { entities, ambiguous, unresolved } = await resolveEntities(text, registry);
  return [
    ...entities.map(({ mentionText, canonicalId, match }) => `${mentionText} = ${canonicalId} (${match})`),
    ...ambiguous.map(({ mentionText, candidates }) => `${mentionText} ? ${candidates.map((one) => one.canonicalId)}`),
    ...unresolved.map((name) => `${name} ?`),
  ];
};

test.each([
  ['What did Acme Corporation order?', ['Acme Corporation = customer:acme (exact)']],
  ["What is ACME'S phone number?", ['ACME = customer:acme (alias)']],
  ['what did acme order', ['acme = customer:acme (alias)']],
  ["Who was at St Mary's Hospital?", ["St Mary's Hospital = hospital (exact)"]],
  ["Who was at St Mary's?", ['St Mary = hospital (fuzzy)']],
  ['Is the payments gateway down?', ['payments gateway = service (exact)']],
  ['How many Aurora lamps are left?', ['Aurora lamps = lamp (exact)']],
  ['Did Chris Novakk call?', ['Chris Novakk = person:chris-novak (fuzzy)']],
  ['Did Chris call?', ['Chris ? person:chris-novak,person:chris-adeyemi']],
  ['Did Chris Novak call after Chris left?', ['Chris Novak = person:chris-novak (exact)']],
  ['Will Acme pay?', ['Acme = customer:acme (alias)']],
  ['Does Will eat meat?', ['Will = person:will (alias)']],
  ['will the gateway work', []],
  ['May I ask May?', ['May = person:may (alias)']],
  ['Did Zelda write from Utrecht on Monday?', ['Zelda ?', 'Utrecht ?']],
  ['Что сделала Acme?', ['Acme = customer:acme (alias)']],
  ['昨日', []],
])('%s', async (text, expected) => expect(await resolve(text)).toEqual(expected));

test('a word of a time is no name', async () => {
  const text = 'What happened in May?';
  const { entities } = await resolveEntities(text, registry, [{ start: 14, end: 20 }]);
  expect(entities).toEqual([]);
});

test('confidence falls from names to aliases, misspelt names and parts of names', async () => {
  const read = async (text: string) => (await resolveEntities(text, registry)).entities[0]?.confidence;
  expect(await read('Is it Acme Corporation?')).toBe(1);
  expect(await read('Is it Acme?')).toBe(0.95);
  expect(await read('Is it Chris Novakk?')).toBeCloseTo(11 / 12, 12);
  expect(await read('Is it Adeyemi?')).toBe(0.75);
});

test('an encoder matches what letters do not', async () => {
  // Two texts are near if they share a first letter: letters of the alphabet are the dimensions.
  const encoder: Encoder = {
    name: 'initials',
    dimension: 26,
    identity: {},
    encode: async (texts) => {
      const vectors = new Float32Array(texts.length * 26);
      for (const [i, text] of texts.entries()) vectors[i * 26 + ((text.codePointAt(0) ?? 97) - 97)] = 1;
      return vectors;
    },
    dispose: () => {},
  };
  const near = await createEntityRegistry([{ id: 'z', name: 'Zenith' }, ...ENTRIES], {}, encoder);
  const { entities, unresolved } = await resolveEntities('Where are Zorro and Ximena?', near);
  expect(entities).toEqual([{ mentionText: 'Zorro', canonicalId: 'z', confidence: 1, match: 'embedding' }]);
  expect(unresolved).toEqual(['Ximena']);
});

test('without a registry names are listed as unresolved', async () => {
  expect(await resolveEntities('What did Acme Corporation order?', null)).toEqual({
    entities: [],
    ambiguous: [],
    unresolved: ['Acme Corporation'],
  });
});

test('entries that cannot be are refused', async () => {
  await expect(
    createEntityRegistry([
      { id: 'a', name: 'A' },
      { id: 'a', name: 'B' },
    ]),
  ).rejects.toThrow('entity occurs twice: a; give each entity one entry');
  await expect(createEntityRegistry([{ id: 'a', name: '--' }])).rejects.toThrow(
    'name of a has no letters: "--"; correct or remove it',
  );
  await expect(createEntityRegistry([{ id: 'a', nam: 'A' } as never])).rejects.toThrow(ConfigurationError);
});
