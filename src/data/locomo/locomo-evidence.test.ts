import { describe, expect, it } from 'vitest';
import { parseDialogueKeys, repairEvidence } from './locomo-evidence.ts';

describe('parseDialogueKeys', () => {
  it.each([
    ['D3:7', ['3:7']],
    ['D8:6; D9:17', ['8:6', '9:17']],
    ['D9:1 D4:4 D4:6', ['9:1', '4:4', '4:6']],
    ['D30:05', ['30:5']],
    ['D:11:26', ['11:26']],
    ['D10:200', ['10:200']],
    ['D', []],
    ['3:7', []],
    ['', []],
  ])('reads %j', (text, keys) => {
    expect(parseDialogueKeys(text)).toEqual(keys);
  });
});

describe('repairEvidence', () => {
  const turns = new Map([
    ['1:2', 'x/D1:2'],
    ['1:3', 'x/D1:3'],
    ['11:26', 'x/D11:26'],
  ]);

  it('names each turn that is there once, and counts the rest', () => {
    expect(repairEvidence(['D:11:26', 'D1:3; D1:7', 'D', 'D1:03', 'D2:1', 'D2:1'], turns)).toEqual({
      turnIds: ['x/D11:26', 'x/D1:3'],
      unknown: 2,
      empty: 1,
    });
  });

  it('may find nothing', () => {
    expect(repairEvidence([], turns)).toEqual({ turnIds: [], unknown: 0, empty: 0 });
  });
});
