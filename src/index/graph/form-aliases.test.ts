import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { FormAliases } from './form-aliases.ts';

const listAll = (aliases: FormAliases, forms: readonly string[]) =>
  forms.flatMap((form) => aliases.add(form).map((alias) => [form, alias.form, alias.similarity]));

test('spellings of a name are aliases, with the share of trigrams that they have in common', () => {
  const aliases = new FormAliases(0.5);
  const forms = ['person-centered therapy', 'hannibal', 'person-centred therapy', 'elephant', 'personality'];
  const found = listAll(aliases, forms);
  expect(found).toEqual([['person-centred therapy', 'person-centered therapy', 20 / 25]]);
});

test.each([
  ['world war i', 'world war ii'],
  ['2014 fifa world cup', '2018 fifa world cup'],
  ['windows 95', 'windows 98'],
])('%s and %s are none: their numbers differ', (a, b) => {
  const aliases = new FormAliases(0.3);
  aliases.add(a);
  expect(aliases.add(b)).toEqual([]);
});

test('a form is no alias of itself, and taking it in twice changes nothing', () => {
  const aliases = new FormAliases(0.5);
  expect(aliases.add('scipio africanus')).toEqual([]);
  expect(aliases.add('scipio africanus')).toEqual([]);
  const [found] = aliases.add('scipio africanuss');
  expect(found?.form).toBe('scipio africanus');
  expect(aliases.find('scipio africanus').map(({ form }) => form)).toEqual(['scipio africanuss']);
  expect(aliases.find('unknown')).toEqual([]);
});

test('a form of more than 120 characters has none', () => {
  const aliases = new FormAliases(0.5);
  const form = 'the road '.repeat(20);
  aliases.add(form);
  expect(aliases.add(`${form}s`)).toEqual([]);
  expect(aliases.find(`${form}s`)).toEqual([]);
});

const random = createRandom(5, 'form-aliases-test');
const SYLLABLES = ['ha', 'nni', 'bal', 'sci', 'pio', 'za', 'ma', 'can', 'nae', 'ro', 'me'];
const drawName = () =>
  Array.from({ length: 4 + random.integer(3) }, () => SYLLABLES[random.integer(SYLLABLES.length)]).join('');

/** Distinct forms; a third of them differ from one before in a syllable at the end. */
function drawForms(count: number): string[] {
  const forms = new Set<string>();
  while (forms.size < count) {
    const known = [...forms][random.integer(Math.max(1, forms.size))] ?? '';
    forms.add(forms.size % 3 === 2 ? known + SYLLABLES[random.integer(SYLLABLES.length)] : drawName());
  }
  return [...forms];
}

test('the aliases among some forms do not depend on the forms after them', () => {
  const forms = drawForms(300);
  const [part, whole] = [new FormAliases(0.4), new FormAliases(0.4)];
  const before = listAll(part, forms.slice(0, 100));
  expect(listAll(whole, forms).slice(0, before.length)).toEqual(before);
  expect(before.length).toBeGreaterThan(20);
  const known = new Set(forms.slice(0, 100));
  for (const form of forms.slice(100, 150))
    expect(whole.find(form).filter((alias) => known.has(alias.form))).toEqual(part.find(form));
});

test('nearly every pair above the threshold is found', () => {
  const forms = drawForms(200);
  const trigrams = forms.map((form) => new Set(Array.from(form, (_, i) => ` ${form} `.slice(i, i + 3))));
  let expected = 0;
  for (const [i, a] of trigrams.entries())
    for (const b of trigrams.slice(0, i)) {
      const shared = [...a].filter((trigram) => b.has(trigram)).length;
      if (shared / (a.size + b.size - shared) >= 0.6) expected++;
    }
  const found = listAll(new FormAliases(0.6), forms).length;
  expect(expected).toBeGreaterThan(20);
  expect(found).toBeLessThanOrEqual(expected);
  expect(found).toBeGreaterThan(0.95 * expected);
});

test('what a form costs is bounded, however many forms are alike', () => {
  const count = (most: number) => {
    const aliases = new FormAliases(0.9);
    for (let i = 0; i < most; i++)
      aliases.add(`the same long beginning of a form ${'abcdefghij'[i % 10]}${drawName()}`);
    return aliases.operations / most;
  };
  const [few, many] = [count(500), count(1500)];
  expect(many).toBeLessThan(32 * 64);
  expect(many).toBeLessThan(2 * few);
});
