import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { useBackend } from '../../src/core/tensors/backend.ts';
import { ignoreProgress } from '../../src/core/terminal/progress.ts';
import { conceptAliases } from './study.ts';

const folder = mkdtempSync(join(tmpdir(), 'concept-aliases-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A sample of passages, each with a question that it answers. */
function writeSample(name: string, passages: Readonly<Record<string, string>>): void {
  const questions = Object.keys(passages).map((title, i) => ({
    _id: `q${i}`,
    question: `What is ${title}?`,
    answer: 'that',
    type: 'bridge',
    level: 'easy',
    supporting_facts: [[title, 0]],
    context: Object.entries(passages).map(([other, text]) => [other, [text]]),
  }));
  const texts = Object.fromEntries(Object.entries(passages).map(([title, text]) => [title, [text]]));
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(questions));
  writeFileSync(join(folder, `${name}_corpus.json`), JSON.stringify(texts));
}

const people = ['Ann Davis', 'Bob Miller', 'Carol Young', 'Dora Smith', 'Emil Baker', 'Fred Carter', 'Gina Harris'];
writeSample('named', Object.fromEntries(people.map((name) => [name, `${name.replace(' ', ' K. ')} was a writer.`])));
writeSample('others', { Rome: 'Rome is a city.', 'Ann Davies': 'A name.' });

test('chooses a threshold on one half of the pairs and reports the other', async () => {
  await useBackend('wasm');
  const embedding = { encoder: 'lsa', dimension: 3, minDocumentFrequency: 1, maxDocumentShare: 1 };
  const settings = conceptAliases.settings.parse({ path: folder, named: 'named', others: 'others', embedding });
  const { figures, sections } = await conceptAliases.measure(settings, {
    cacheFolder: folder,
    progress: ignoreProgress,
  });
  const { same, heldOut } = (figures as { letters: { same: number[]; heldOut: { precision: number } } }).letters;
  expect(same.reduce((sum, count) => sum + count, 0)).toBe(people.length);
  expect(heldOut.precision).toBe(1);
  expect(sections[1]?.split('\n')).toHaveLength(2 + settings.thresholds.length);
  expect(sections[4]?.split('\n')).toHaveLength(2 + settings.cosines.length);
});

test('a threshold that cannot be is refused', () => {
  expect(conceptAliases.settings.safeParse({ thresholds: [0] }).success).toBe(false);
});
