import { expect, test } from 'vitest';
import { classifyQuery } from './classify-query.ts';

const FLAGS = ['entityFocused', 'timeFocused', 'procedural', 'requiresDomainDb'] as const;
const classify = (text: string, hasNames = false, hasTime = false) => {
  const { type, rule } = classifyQuery(text, { hasNames, hasTime });
  return [type.category, ...FLAGS.filter((flag) => type[flag]), `by ${rule}`].join(' ');
};

test('the examples of the seed', () => {
  expect(classify('What did Acme order?', true)).toBe('factual entityFocused requiresDomainDb by no cue');
  expect(classify('How do I handle rush orders?')).toBe('procedural procedural by how');
  expect(classify('Tell me about my recent customer interactions', false, true)).toBe(
    'exploratory entityFocused timeFocused by request to tell',
  );
  expect(classify('Why are sales down this quarter?', false, true)).toBe(
    'analytical timeFocused requiresDomainDb by why',
  );
});

test.each([
  ['How many orders came in?', 'factual requiresDomainDb by quantity'],
  ['What did Ann give me?', 'factual by no cue'],
  ['Which year was that?', 'factual timeFocused by no cue'],
  ['When did it start?', 'factual timeFocused by no cue'],
  ['What do I do when it rains?', 'procedural procedural by what to do'],
  ['What are the steps to renew a passport?', 'procedural procedural by steps'],
  ['Where is the release checklist?', 'factual by no cue'],
  ['Could you walk us through the setup?', 'procedural procedural by how to'],
  ['How was the trip?', 'exploratory by state'],
  ['How have I been feeling?', 'exploratory by state'],
  ['Please give me an overview', 'exploratory by request to tell'],
  ['What do we know about bees?', 'exploratory by open question'],
  ['How do the two compare?', 'analytical by comparison'],
  ['Is the train better for us than the car?', 'analytical by comparison'],
  ['How has the tone changed over time?', 'analytical timeFocused by change'],
  ["How's the move coming along?", 'exploratory by state'],
  ['What changed in it?', 'analytical timeFocused by change'],
  ['Should we take the train or the car?', 'analytical by comparison'],
  ['What drove revenue?', 'analytical requiresDomainDb by cause'],
  ['Compare our old process with the new one', 'analytical procedural by comparison'],
  ['昨日は何がありましたか', 'factual by no cue'],
])('%s', (text, expected) => expect(classify(text)).toBe(expected));
