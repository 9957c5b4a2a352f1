import { describe, expect, it } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { RowFaults } from './jsonl-rows.ts';

describe('RowFaults', () => {
  const faults = new RowFaults();
  for (let i = 0; i < 23; i++) faults.add(`turns.jsonl:${i + 1}`, i < 17 ? 'missing parent' : 'duplicate id', `x${i}`);

  it('throws one error that shows twenty and tells how many more there are', () => {
    let message = '';
    try {
      faults.settle('my-data', 'error');
    } catch (error) {
      expect(error).toBeInstanceOf(ValidationError);
      message = (error as Error).message;
    }
    const lines = message.split('\n');
    expect(lines[0]).toBe('23 errors in my-data; correct and run again, or set onDirtyRow: skip:');
    expect(lines[1]).toBe('  turns.jsonl:1: missing parent: x0');
    expect(lines[20]).toBe('  turns.jsonl:20: duplicate id: x19');
    expect(lines.slice(21)).toEqual(['  and 3 more']);
  });

  it('counts by file and kind where faulty rows are skipped', () => {
    expect(faults.settle('my-data', 'skip').toFacts()).toEqual({
      'skipped in turns.jsonl: missing parent': 17,
      'skipped in turns.jsonl: duplicate id': 6,
    });
  });

  it('has nothing to say about clean data', () => {
    expect(new RowFaults().settle('my-data', 'error').toFacts()).toEqual({});
  });
});
