import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { useDetectionOptions } from '../../src/memory/context/feedback/detect-use.ts';
import { FACT_KINDS } from './facts.ts';
import { drawResponses, type JudgedResponse } from './generated-responses.ts';
import { chooseLimits, measureUse, type UseMeasures } from './measure.ts';
import { memoryUse } from './study.ts';

const folder = mkdtempSync(join(tmpdir(), 'memory-use-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('responses hold what they use, and a paraphrase holds none of its words', () => {
  for (const { response, memories, used } of drawResponses(53, 3))
    for (const { id, text } of memories) {
      const value = FACT_KINDS.flatMap(({ values }) => values).find(([words]) => text.includes(words));
      const isThere = response.toLowerCase().includes((value as (typeof FACT_KINDS)[0]['values'][0])[0].toLowerCase());
      expect(isThere).toBe(used.has(id) && used.get(id) !== 'in other words');
    }
});

const OPTIONS = { seed: 3, samples: 100 };

test('shares are those of known decisions', () => {
  const judged = (id: string, response: string, used: string[]) => ({
    ...{ id, cluster: id, question: 'What?', response, used: new Map(used.map((name) => [name, 'quoted'])) },
    memories: [
      { id: 'a', text: 'cherry trees' },
      { id: 'b', text: 'rusty nails' },
    ],
  });
  const responses = [judged('r', 'Cherry trees', ['a', 'b']), judged('s', 'Rusty nails', ['a'])];
  const { precision, recall, falseAlarms } = measureUse(responses, {}, OPTIONS);
  const read = (found: UseMeasures['precision']) => [found?.n, found?.share.mean];
  expect([read(precision), read(recall), read(falseAlarms)]).toEqual([
    [2, 1 / 2],
    [3, 1 / 3],
    [1, 1],
  ]);
});

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('the defaults are what the dev half has chosen in the published run', () => {
  const { chosen, limits } = JSON.parse(read('results/memory-use/metrics.json'));
  expect([chosen, limits]).toEqual([useDetectionOptions.parse({}), useDetectionOptions.parse({})]);
});

test('the figures of the guide are those of the published table', () => {
  const [sentence = ''] = /On the other half precision[^(]+/.exec(read('docs/feedback.md')) ?? [];
  const figures = sentence.match(/\.\d{3}/g) ?? [];
  expect(figures).toHaveLength(4);
  const table = read('results/memory-use/table.md');
  expect(figures.filter((figure) => !table.includes(` ${figure} [`))).toEqual([]);
});

test('limits that flag too much are not chosen', () => {
  const drawn: JudgedResponse[] = drawResponses(53, 5);
  const responses = drawn.map((response) => ({ ...response, cluster: response.id }));
  expect(measureUse(responses, chooseLimits(responses), OPTIONS).precision?.share.mean).toBeGreaterThanOrEqual(0.95);
});

test('answers of LoCoMo are measured against the turns of their sessions', async () => {
  const path = join(folder, 'locomo.json');
  const turn = (id: string, text: string) => ({ speaker: 'Ana', dia_id: id, text });
  const ask = (question: string, answer: string | number, id: string) => ({
    question,
    answer,
    evidence: [id],
    category: 1,
  });
  const conversation = {
    ...{ speaker_a: 'Ana', speaker_b: 'Bo', session_1_date_time: '1:56 pm on 8 May, 2023' },
    session_1: [turn('D1:1', 'We planted beans'), turn('D1:2', 'The shed burned')],
  };
  const qa = [ask('What was planted?', 'beans', 'D1:1'), ask('What happened?', 2023, 'D1:2')];
  writeFileSync(path, JSON.stringify([{ sample_id: 'c', conversation, qa }]));
  const context = { cacheFolder: folder, progress: ignoreProgress };
  const { figures } = await memoryUse.measure(
    memoryUse.settings.parse({ responses: 20, locomo: path, samples: 100 }),
    context,
  );
  const { measures } = figures as { measures: Record<string, UseMeasures> };
  const found = measures['answers of LoCoMo'];
  expect([found?.precision?.share.mean, found?.recall?.share.mean]).toEqual([1, 0.5]);
});
