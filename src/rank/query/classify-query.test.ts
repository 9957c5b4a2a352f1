import { expect, test } from 'vitest';
import { classifyQuery } from './classify-query.ts';

const FLAGS = ['entityFocused', 'timeFocused', 'procedural', 'requiresDomainDb'] as const;
const classify = (text: string, names: readonly string[] = [], hasTime = false) => {
  const { type, rule } = classifyQuery(text, { names, hasTime });
  return [type.category, ...FLAGS.filter((flag) => type[flag]), `by ${rule}`].join(' ');
};

test.each([
  ['What did Acme order?', ['Acme'], 'factual entityFocused requiresDomainDb by no cue'],
  ['What did Acme order less than usual?', ['Acme'], 'analytical entityFocused requiresDomainDb by comparison'],
  ["What is Acme's preferred delivery?", ['Acme'], 'factual entityFocused by no cue'],
  ['Which payment do customers tend to choose?', [], 'factual entityFocused by no cue'],
  ['What is the number of our new clients?', [], 'factual entityFocused requiresDomainDb by no cue'],
  ['How many mails did customers write?', [], 'factual entityFocused by quantity'],
  ['Do you know why Kai Media cancelled the orders?', ['Kai Media'], 'analytical entityFocused by why'],
  ["How come Acme hasn't paid?", ['Acme'], 'analytical entityFocused by why'],
  ["Why did Acme's orders fall?", ['Acme'], 'analytical entityFocused requiresDomainDb by why'],
  ['Why did sales to Acme fall?', ['Acme'], 'analytical entityFocused requiresDomainDb by why'],
])('%s with names', (text, names, expected) => expect(classify(text, names)).toBe(expected));

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
