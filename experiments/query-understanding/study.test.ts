import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { createEntityRegistry } from '../../src/rank/query/entity-registry.ts';
import { findChronoRange } from './chrono-ranges.ts';
import {
  chooseHalf,
  computeLabelledRange,
  type LabelledQuestion,
  readLabelledQuestions,
} from './labelled-questions.ts';
import type { KindOfQuestions } from './locomo-questions.ts';
import { type Miss, measureQuestions } from './measures.ts';
import { queryUnderstanding } from './study.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-understanding-'));
afterAll(() => rmSync(folder, { recursive: true }));
const { questions, entities } = readLabelledQuestions();

test('400 questions, about half of each category held out, with labels that agree', () => {
  expect(questions).toHaveLength(400);
  expect(new Set(questions.map(({ id }) => id)).size).toBe(400);
  expect(new Set(questions.map(({ text }) => text)).size).toBe(400);
  const heldOut = questions.filter((question) => chooseHalf(question) === 'held out').length;
  expect(Math.abs(heldOut - 200)).toBeLessThan(20);
  const known = new Set(entities.map(({ id }) => id));
  for (const question of questions) {
    const { id, text, category, procedural, entityFocused, timeFocused, entities: named, ambiguous } = question;
    if (category === 'procedural') expect(procedural, id).toBe(true);
    if (named.length + ambiguous.length > 0) expect(entityFocused, id).toBe(true);
    const range = computeLabelledRange(question);
    if (range !== null) expect([timeFocused, range.start < range.end], id).toEqual([true, true]);
    for (const entity of named) expect(known, id).toContain(entity);
    for (const mention of ambiguous) expect(text, id).toContain(mention);
  }
});

test('right and wrong answers are counted by half', async () => {
  const label = (id: string, rest: Partial<LabelledQuestion>): LabelledQuestion => ({
    ...{
      id,
      text: 'What did Acme order yesterday?',
      askedAt: '2024-02-15T10:00',
      timeZone: 'UTC',
      category: 'factual',
    },
    ...{ entityFocused: true, timeFocused: true, procedural: false, requiresDomainDb: true },
    ...{ entities: ['acme'], ambiguous: [], timeRange: ['2024-02-14', '2024-02-15'] },
    ...rest,
  });
  const [dev, other] = ['a', 'b', 'c', 'd'].filter((id) => chooseHalf({ id }) === 'dev') as [string, string];
  const held = ['a', 'b', 'c', 'd', 'e'].find((id) => chooseHalf({ id }) === 'held out') as string;
  const wrong = { category: 'analytical', entities: ['acme', 'bolt'], timeRange: null } as const;
  const registry = await createEntityRegistry([{ id: 'acme', name: 'Acme' }]);
  const asked = [label(dev, {}), label(other, { ...wrong, entities: [...wrong.entities] }), label(held, {})];
  const { categories, ranges, resolution, misses } = await measureQuestions(asked, registry);
  const list = (measures: typeof ranges) =>
    Object.fromEntries(measures.map(({ measure, dev: a, heldOut: b }) => [measure, [a?.share, b?.share]]));
  expect(list(categories)).toEqual({ factual: [1, 1], analytical: [0, undefined], all: [0.5, 1] });
  expect(list(ranges)).toMatchObject({
    'understand: the labelled range exactly': [1, 1],
    'understand: no range where none is labelled': [0, undefined],
    'chrono-node alone: the labelled range exactly': [1, 1],
  });
  expect(list(resolution)).toMatchObject({ precision: [1, 1], recall: [2 / 3, 1] });
  expect(misses.map(({ id, what }: Miss) => [id, what])).toEqual([
    [other, 'category'],
    [other, 'timeRange'],
  ]);
});

test('chrono alone gives a unit or a day', () => {
  const read = (text: string) => {
    const range = findChronoRange(text, Date.UTC(2024, 1, 15, 10), 'UTC');
    return range && [range.start, range.end].map((time) => new Date(time).toISOString().slice(0, 16)).join(' ');
  };
  expect(read('in May 2023')).toBe('2023-05-01T00:00 2023-06-01T00:00');
  expect(read('yesterday')).toBe('2024-02-14T00:00 2024-02-15T00:00');
  expect(read('yesterday at 15:30')).toBe('2024-02-14T15:30 2024-02-14T15:31');
  expect(read('between March and May 2023')).toBe('2024-03-01T00:00 2024-04-01T00:00');
  expect(read('two Tuesdays ago')).toBeNull();
});

test('questions of LoCoMo by kind: how many ranges hold evidence', async () => {
  const path = join(folder, 'locomo.json');
  const turn = (id: string) => ({ speaker: 'Ana', dia_id: id, text: 'Beans.' });
  const ask = (question: string, id: string) => ({ question, answer: 'x', evidence: [id], category: 2 });
  const conversation = {
    ...{ speaker_a: 'Ana', speaker_b: 'Bo' },
    ...{ session_1: [turn('D1:1')], session_1_date_time: '1:56 pm on 8 May, 2023' },
    ...{ session_2: [turn('D2:1')], session_2_date_time: '1:56 pm on 8 June, 2023' },
  };
  const qa = [
    ask('When did Ana eat beans in May?', 'D1:1'),
    ask('When did Ana eat in May?', 'D2:1'),
    ask('When?', 'D1:1'),
  ];
  writeFileSync(path, JSON.stringify([{ sample_id: 'conv-1', conversation, qa }]));
  const settings = queryUnderstanding.settings.parse({ locomo: path });
  const { figures, sections } = await queryUnderstanding.measure(settings, {
    cacheFolder: folder,
    progress: ignoreProgress,
  });
  const [shares] = (figures as { locomo: KindOfQuestions[] }).locomo;
  const counts = Object.values({ ...shares, kind: null }).map((share) => share && [share.hits, share.n]);
  expect([shares?.kind, ...counts]).toEqual(['temporal', null, [3, 3], [2, 3], [1, 3], [2, 3], [1, 3]]);
  expect(sections).toHaveLength(6);
});
