import { expect, test } from 'vitest';
import type { Corpus } from '../../model/turns/corpus.ts';
import { type ArmOptions, armOptions } from '../config/arm-options.ts';
import { findFilterWarnings } from './filter-warnings.ts';

const corpus = {
  turns: [{ id: 'a' }, { id: 'b', attributes: { memoryType: 'fact', phase: 'late' } }],
} as unknown as Corpus;
const describeArm = (name: string, where: string | null, more: Partial<ArmOptions> = {}): ArmOptions => ({
  ...armOptions.parse({
    name,
    steps: ['filter', 'search'],
    filter: where,
    search: { newest: {} },
  }),
  ...more,
});

test('an arm whose filter reads an attribute that no turn has gets one warning, its control none', () => {
  const wrong = "(memorytype = 'fact' or not exists weather) and phase = $query.other and channel = 'a'";
  const arms = [
    describeArm('plain', null),
    describeArm('right', "memoryType = 'fact' and timestamp > 7"),
    describeArm('wrong', wrong),
    describeArm('wrong | control: random-parents', wrong, { control: { kind: 'random-parents', seed: 1 } }),
    describeArm('wrong, seed 2', wrong, { repeats: 'wrong' }),
  ];
  expect(findFilterWarnings(arms, { corpus })).toEqual([
    {
      code: 'unknown-attribute',
      system: 'wrong',
      message:
        'wrong: the filter reads attributes that no turn has and that are null: memorytype (did you mean memoryType?), weather; correct the filter, or add them to the turns',
    },
  ]);
});
