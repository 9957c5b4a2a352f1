import { expect, test } from 'vitest';
import { parse } from '../../core/validation/validation.ts';
import { slicePolicySchema } from './policy.ts';
import { formatPolicyRef } from './policy-ref.ts';

test('two contents never have one name, whatever their ids and versions', () => {
  const refs = [
    {},
    { version: 2 },
    { maxNodes: 9 },
    { phaseWeight: { plan: 0.5 } },
    { relationWeight: { author: 0.1 } },
  ].map((changes) => formatPolicyRef(slicePolicySchema.parse({ id: 'careful', ...changes })));
  expect(new Set(refs).size).toBe(5);
  for (const ref of refs) expect(ref).toMatch(/^careful@[12]#[0-9a-f]{16}$/);
  const reordered = { distanceDecay: 0.9, version: 1, id: 'careful' };
  expect(formatPolicyRef(slicePolicySchema.parse(reordered))).toBe(refs[0]);
});

test.each<[object, string]>([
  [{ maxNode: 3 }, 'got unknown key "maxNode"; did you mean maxNodes?'],
  [{ relationWeight: { parents: 1 } }, 'did you mean parent?'],
  [{ relationWeight: { child: 1.5 } }, 'relationWeight.child'],
  [{ distanceDecay: 2 }, 'distanceDecay'],
  [{ maxNodes: 0 }, 'maxNodes'],
  [{ version: 0 }, 'version'],
  [{ id: 'a b' }, 'a name of letters, digits, ., _ and -'],
  [{ unanchored: 'everything' }, 'unanchored'],
  [{ hierarchy: { coarseShare: 1 } }, 'hierarchy.coarseShare'],
])('%j is refused', (changes, message) => {
  expect(() => parse(slicePolicySchema, { id: 'p', ...changes }, 'policy.yaml')).toThrow(message);
});
