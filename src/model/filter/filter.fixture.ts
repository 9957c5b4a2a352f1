import fc from 'fast-check';
import type { FieldValue, Filter, FilterSubject, FilterValue, FilterVariables } from './filter.ts';

/** Above U+FFFF, where the order of UTF-16 is not the order of UTF-8, and a character between the two. */
const STRINGS = [
  '',
  'a',
  'b',
  'ab',
  'A',
  'ä',
  'é',
  '\ufffd',
  '\ue000',
  '😀',
  'x😀y',
  "it's",
  '1',
  'true',
  'null',
  ' ',
  '\n',
  '\\',
  '%',
  'ключ',
];
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  1.0000000000000002,
  0.1,
  0.30000000000000004,
  5e-324,
  1.5e-7,
  123456.789,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
];
/** Also names of keywords, of properties of every object, and of nothing. */
export const KEYS = [
  'outcome',
  'tags',
  'kind',
  'constructor',
  '__proto__',
  'and',
  '',
  'odd `key`',
  'ключ',
  '😀',
  "'); drop table turns; --",
];

const string = fc.oneof(
  fc.constantFrom(...STRINGS),
  fc.string({ unit: fc.constantFrom('a', 'b', '😀', '\ue000', "'"), maxLength: 3 }),
);
const number = fc.oneof(fc.constantFrom(...NUMBERS), fc.integer({ min: -2, max: 2 }));
const scalar = fc.oneof(string, number, fc.boolean());
export const fieldValue: fc.Arbitrary<FieldValue> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(string, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.constant(null) },
);

const toRecord = (value: fc.Arbitrary<FieldValue>) =>
  fc
    .array(fc.tuple(fc.constantFrom(...KEYS), value), { minLength: 8, maxLength: 20 })
    .map((entries) => Object.fromEntries(entries));

/** NaN and infinity are null in JSON. */
const storedValue = fc.oneof(
  { weight: 12, arbitrary: fieldValue },
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY),
);

export const subject: fc.Arbitrary<FilterSubject> = fc.record({
  id: string,
  conversationId: string,
  parentId: fc.option(string, { nil: null }),
  timestamp: fc.constantFrom(0, 1, -1, 1.5, 1_577_836_800_000),
  author: fc.option(string, { nil: null }),
  channel: fc.option(string, { nil: null }),
  attributes: toRecord(storedValue),
});

const ownText = fc.constantFrom('id', 'conversationId', 'parentId', 'author', 'channel');
const attribute = fc.constantFrom(...KEYS);
const query = fc.record({ query: fc.oneof(attribute, ownText, fc.constantFrom('timestamp', 'unknown')) });
export const variables: fc.Arbitrary<FilterVariables> = fc
  .tuple(toRecord(fieldValue), subject)
  .map(([extra, { attributes: _, ...own }]) => ({ ...extra, ...own }));

const anyValue: fc.Arbitrary<FilterValue> = fc.oneof({ weight: 4, arbitrary: scalar }, fc.constant(null), query);
const time: fc.Arbitrary<FilterValue> = fc.oneof(number, fc.constant(null), query);
/** Fields with values that may be compared with them: a timestamp is no string. */
const operands = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      field: fc.oneof(attribute, ownText),
      values: fc.array(anyValue, { maxLength: 4 }),
      a: anyValue,
      b: anyValue,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      field: fc.constant('timestamp'),
      values: fc.array(time, { maxLength: 4 }),
      a: time,
      b: time,
    }),
  },
);
const field = fc.oneof(attribute, ownText, fc.constant('timestamp'));

const smallValue = fc.constantFrom<FilterValue[]>('', 'A', -2, 0, { query: 'outcome' });
const largeValue = fc.constantFrom<FilterValue[]>('\ue000', '😀', 1, 1000, { query: 'kind' });

const condition: fc.Arbitrary<Filter> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('=', '!=', '<', '<=', '>', '>='), operands)
      .map(([op, { field: name, a }]): Filter => ({ op, field: name, value: a })),
  },
  operands.map(({ field: name, a, b }): Filter => ({ op: 'between', field: name, low: a, high: b })),
  fc.record({ op: fc.constant('between'), field: attribute, low: smallValue, high: largeValue }),
  operands.map(({ field: name, values }): Filter => ({ op: 'in', field: name, values })),
  fc.record({ op: fc.constant('contains'), field, value: fc.oneof(string, query) }),
  fc.record({ op: fc.constant('exists'), field }),
);

/** Filters of every operation, over few keys and values, so that they accept some turns and refuse others. */
export const filter: fc.Arbitrary<Filter> = fc.letrec<{ node: Filter }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { weight: 3, arbitrary: condition },
    fc.record({ op: fc.constantFrom('and', 'or'), of: fc.array(tie('node'), { minLength: 2, maxLength: 3 }) }),
    fc.record({ op: fc.constant('not'), of: tie('node') }),
  ),
})).node;
