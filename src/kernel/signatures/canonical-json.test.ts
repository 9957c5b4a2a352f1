import serialise from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { formatCanonicalJson } from './canonical-json.ts';

test('keys are in the order of their code units, numbers as ECMAScript writes them, without spaces', () => {
  // The order of RFC 8785, section 3.2.3: € is U+20AC, the last key is one surrogate pair.
  const value = { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 };
  expect(formatCanonicalJson(value)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}');
  expect(formatCanonicalJson([Number('333333333.33333329'), 1e30, 4.5, 2e-3, 1e-27, -0])).toBe(
    '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
  );
  expect(formatCanonicalJson({ text: '€$\u000f\nA\'B"\\\\"/' })).toBe('{"text":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}');
});

test.each<[string, unknown, string]>([
  ['undefined', { a: [1, undefined] }, 'a[1] is a value that JSON does not have: undefined; sign plain JSON alone'],
  ['a missing value', { a: undefined }, 'a is a value that JSON does not have: undefined'],
  ['a hole', new Array(2), '[0] is a value that JSON does not have: undefined'],
  ['NaN', { a: { b: Number.NaN } }, 'a.b is a number that JSON does not have: NaN'],
  ['infinity', [Number.NEGATIVE_INFINITY], '[0] is a number that JSON does not have: -Infinity'],
  ['half a surrogate pair', { a: 'x\ud800' }, 'a is half a surrogate pair: "x\\ud800"'],
  ['half a pair in a key', { '\udc00': 1 }, 'is half a surrogate pair: "\\udc00"'],
  ['a date', { a: new Date(0) }, 'a is no plain object: Date'],
  ['a map', new Map(), '(top level) is no plain object: Map'],
  ['a function', { toJSON: () => 1 }, 'toJSON is a value that JSON does not have'],
  ['a whole number beyond JSON', { a: 1n }, 'a is a value that JSON does not have: 1'],
])('%s is refused', (_, value, message) => {
  expect(() => formatCanonicalJson(value)).toThrow(ValidationError);
  expect(() => formatCanonicalJson(value)).toThrow(message);
});

test('is what the library canonicalize writes', () => {
  const texts = fc.array(fc.string({ unit: 'binary' }));
  fc.assert(
    fc.property(fc.record({ value: fc.jsonValue(), texts, 'a b': fc.array(fc.jsonValue()) }), (value) => {
      expect(formatCanonicalJson(value)).toBe(serialise(value));
    }),
    { numRuns: 200 },
  );
});

test('two values have one text if and only if they are equal, and the text reads as the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const reversed = reverseKeys(a);
      expect(formatCanonicalJson(reversed)).toBe(formatCanonicalJson(a));
      expect(JSON.parse(formatCanonicalJson(a))).toEqual(JSON.parse(JSON.stringify(a)));
      const same = formatCanonicalJson(a) === formatCanonicalJson(b);
      expect(same).toBe(formatCanonicalJson(reverseKeys(b)) === formatCanonicalJson(reversed));
    }),
    { numRuns: 100 },
  );
});

function reverseKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reverseKeys);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, item]) => [key, reverseKeys(item)]),
  );
}
