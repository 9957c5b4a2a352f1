import { describe, expect, it } from 'vitest';
import { ANSWERABLE_CATEGORIES, type LocomoCategory } from '../prepared/datasets.ts';
import { Counts } from '../prepared/prepared.ts';
import { buildLocomoSamples } from './locomo.fixture.ts';
import { buildLocomoConversation, buildLocomoQueries } from './locomo.ts';
import { readSample } from './locomo-schema.ts';

function ask(categories: readonly LocomoCategory[], split: 'dev' | 'test' = 'dev') {
  const sample = readSample(buildLocomoSamples()[0], '[0]', 'my.json');
  const counts = new Counts();
  const asked = buildLocomoQueries(
    sample,
    buildLocomoConversation(sample, 'my.json', new Counts()),
    { categories, chooseSplit: () => split },
    counts,
  );
  return { ...asked, facts: counts.toFacts() };
}

describe('buildLocomoQueries', () => {
  it('asks at the end of the conversation, under the place of the question in the file', () => {
    const { queries } = ask(['multi-hop'], 'test');
    expect(queries).toEqual([
      {
        id: 'conv-7/q3',
        text: 'Who ate what?',
        timestamp: Date.UTC(2023, 2, 1, 0, 5) + 1,
        anchorTurnId: null,
        author: null,
        channel: null,
        conversationId: 'conv-7',
        kind: 'multi-hop',
        split: 'test',
        cluster: 'conv-7',
      },
    ]);
  });

  it('judges the turns of the repaired evidence, and leaves out what has none', () => {
    const { queries, judgements, facts } = ask(ANSWERABLE_CATEGORIES);
    expect(queries.map(({ id, kind }) => [id, kind])).toEqual([
      ['conv-7/q0', 'single-hop'],
      ['conv-7/q1', 'temporal'],
      ['conv-7/q3', 'multi-hop'],
    ]);
    expect(judgements).toEqual([
      { queryId: 'conv-7/q0', turnId: 'conv-7/D1:1', grade: 1 },
      { queryId: 'conv-7/q1', turnId: 'conv-7/D2:1', grade: 1 },
      { queryId: 'conv-7/q1', turnId: 'conv-7/D1:2', grade: 1 },
      { queryId: 'conv-7/q3', turnId: 'conv-7/D1:3', grade: 1 },
    ]);
    expect(facts).toEqual({
      'left out: questions of other categories': 1,
      'left out: questions without evidence': 2,
      'evidence that names no turn': 2,
      'evidence without a dialogue id': 1,
    });
  });

  it('asks adversarial questions where they are wanted', () => {
    expect(ask(['adversarial']).queries.map(({ id, kind }) => [id, kind])).toEqual([['conv-7/q4', 'adversarial']]);
  });
});
