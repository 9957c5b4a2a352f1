import { describe, expect, test } from 'vitest';
import { attributesSchema, buildMemoryText, isActive, readImportance, readMemoryFields } from './memory-fields.ts';

const triple = { subject: 'Acme', predicate: 'prefers', object: 'NET30' };
const rule = { trigger: 'a rush order', action: 'call the depot' };

describe('the fields of a memory', () => {
  test.each([
    [{ memoryType: 'semantic', ...triple }, { ...triple, status: 'active' }, 'Acme prefers NET30'],
    [
      { memoryType: 'semantic', ...triple, status: 'superseded' },
      { ...triple, status: 'superseded' },
      'Acme prefers NET30',
    ],
    [{ memoryType: 'procedural', ...rule }, rule, 'a rush order: call the depot'],
    [{ memoryType: 'procedural', trigger: 'rain' }, { trigger: 'rain' }, null],
    [{ memoryType: 'semantic' }, { status: 'active' }, null],
    [{ memoryType: 'episodic', ...triple, ...rule }, {}, null],
    [{ subject: 'Re: lunch' }, {}, null],
  ])('%j', (attributes, fields, text) => {
    const read = readMemoryFields({ attributes: attributesSchema.parse(attributes) });
    expect([read, buildMemoryText(read)]).toEqual([fields, text]);
  });

  test.each([
    [undefined, true],
    [{ memoryType: 'semantic', ...triple }, true],
    [{ memoryType: 'semantic', ...triple, status: 'active' }, true],
    [{ memoryType: 'semantic', ...triple, status: 'disputed' }, false],
    [{ memoryType: 'semantic', status: 'superseded' }, false],
    [{ memoryType: 'episodic', status: 'superseded' }, false],
    [{ status: 'superseded' }, false],
    [{ memoryType: 'episodic', status: 'shipped' }, true],
    [{ superseded: true }, true],
  ])('whether %j holds: %s', (attributes, holds) =>
    expect(isActive({ ...(attributes && { attributes }) })).toBe(holds),
  );

  test.each([
    [{ memoryType: 'semantic', subject: 'Acme', object: 'NET30' }, 'predicate'],
    [{ memoryType: 'semantic', ...triple, object: 30 }, 'object'],
    [{ memoryType: 'semantic', ...triple, status: true }, 'status'],
    [{ memoryType: 'procedural', action: 'call' }, 'trigger'],
    [{ memoryType: 'procedural', ...rule, trigger: ' ' }, 'trigger'],
  ])('%j is refused for its %s', (attributes, field) => {
    const { error } = attributesSchema.safeParse(attributes);
    expect(new Set(error?.issues.map(({ path }) => path[0]))).toEqual(new Set([field]));
  });

  test.each([
    [{ memoryType: 'procedural' }, 0.8],
    [{ memoryType: 'summary' }, 0.9],
    [{ memoryType: 'summary', importance: 0.2 }, 0.2],
    [{ memoryType: 'constructor' }, 0.5],
    [undefined, 0.5],
  ])('the importance of %j is %d', (attributes, importance) => {
    expect(readImportance({ ...(attributes && { attributes }) })).toBe(importance);
  });
});
