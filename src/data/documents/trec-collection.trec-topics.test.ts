import { expect, test } from 'vitest';
import { parseTrecTopics } from './trec-collection.ts';

const OLD = `<top>
<head> Tipster Topic Description
<num> Number: 051
<dom> Domain: Trade
<title> Topic: Airbus
  Subsidies
<desc> Description:
Document will discuss subsidies.
<narr> Narrative:
A relevant document cites them.
</top>
`;
const NEW =
  '<top>\n<num>7</num><title>\nMICROWAVE R&amp;D\n</title>\n</top>\n<top><num>MB01</num><title>b</title></top>';

test('topics of the first tracks, whose fields have labels and no ends', () => {
  expect(parseTrecTopics(OLD, ['title'], 'topics')).toEqual([{ id: '51', text: 'Airbus Subsidies' }]);
  expect(parseTrecTopics(OLD, ['title', 'description', 'narrative'], 'topics')).toEqual([
    { id: '51', text: 'Airbus Subsidies\nDocument will discuss subsidies.\nA relevant document cites them.' },
  ]);
});

test('topics whose fields have ends', () => {
  expect(parseTrecTopics(NEW, ['title', 'narrative'], 'topics')).toEqual([
    { id: '7', text: 'MICROWAVE R&D' },
    { id: 'MB01', text: 'b' },
  ]);
});

test.each([
  ['', 'no <top> in: topics; name a file of topics in the format of TREC'],
  [
    '<top><title>a</title></top>',
    'expected <num> with an id without spaces in topic 1 of topics, got ""; correct the topic',
  ],
  ['<top><num>1 2<title>a</top>', 'got "1 2"'],
  [`${NEW}<top><num>3</num><desc>a</desc></top>`, 'topic 3 of topics has no title: 3; set other topicFields'],
  ['<top><num>3', '<top> number 1 has no </top> in: topics'],
])('refuses %j', (text, message) => {
  expect(() => parseTrecTopics(text, ['title'], 'topics')).toThrow(message);
});
