import { expect, test } from 'vitest';
import { listDatasetOptions } from './data.ts';

test('tells what each option takes, and what is taken for it', () => {
  expect(listDatasetOptions('spamassassin-threads')).toEqual([]);
  expect(listDatasetOptions('jsonl')).toEqual([
    { name: 'path', takes: 'text', required: true },
    { name: 'onDirtyRow', takes: 'error or skip', required: false, default: 'error' },
    { name: 'relevantGrade', takes: 'integer', required: false, default: 1 },
  ]);
  expect(listDatasetOptions('locomo').slice(1)).toEqual([
    {
      name: 'categories',
      takes: 'list of multi-hop or temporal or open-domain or single-hop or adversarial',
      required: false,
      default: ['multi-hop', 'temporal', 'open-domain', 'single-hop'],
    },
    { name: 'testConversations', takes: 'list of text', required: false, default: [] },
    { name: 'splitQuestions', takes: 'true or false', required: false },
  ]);
});
