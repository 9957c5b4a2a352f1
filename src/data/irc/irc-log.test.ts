import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { Counts } from '../prepared/prepared.ts';
import { parseIrcLog } from './irc-log.ts';

const parse = (text: string, name = '2005-06-27_12') => parseIrcLog(name, text, new Counts());
const buildLogTime = (hour: number, minute: number, milliseconds = 0) =>
  Date.UTC(2005, 5, 27, hour, minute, 0, milliseconds);
const parseClockTimes = (...clock: string[]) =>
  parse(clock.map((time) => `[${time}] <ana> eggs`).join('\n')).messages.map(({ timestamp }) => timestamp);

test('reads what is said and what is done, and counts the rest', () => {
  const counts = new Counts();
  const text = [
    '[03:41] <ana> bea: how many <b>eggs</b>?',
    '=== cem [~cem@x.example]  has joined #kitchen',
    '[03:41] <bea>    four [of them] ',
    '[03:43]  * |cem|^2 beats eggs',
    '[03:43] <ana>',
    '[03:43] <ana>  ',
    'torn line',
    '[03:47] <> no one',
    '',
  ].join('\r\n');
  expect(parseIrcLog('2005-06-27.train-a', text, counts)).toEqual({
    name: '2005-06-27.train-a',
    lineCount: 8,
    messages: [
      { line: 0, timestamp: buildLogTime(3, 41), nick: 'ana', text: 'bea: how many <b>eggs</b>?' },
      { line: 2, timestamp: buildLogTime(3, 41, 1), nick: 'bea', text: 'four [of them]' },
      { line: 3, timestamp: buildLogTime(3, 43), nick: '|cem|^2', text: 'beats eggs' },
      { line: 7, timestamp: buildLogTime(3, 47), nick: '', text: 'no one' },
    ],
  });
  expect(counts.toFacts()).toEqual({
    'lines read': 8,
    'skipped: system lines': 1,
    'skipped: unreadable lines': 1,
    'skipped: messages without a text': 2,
  });
});

test('gives each message of a minute a millisecond of its own, in the order of the log', () => {
  expect(parseClockTimes('07:11', '07:11', '07:11', '07:13')).toEqual([
    buildLogTime(7, 11),
    buildLogTime(7, 11, 1),
    buildLogTime(7, 11, 2),
    buildLogTime(7, 13),
  ]);
});

test('goes on after midnight', () => {
  expect(parseClockTimes('23:59', '00:00', '00:02')).toEqual([
    buildLogTime(23, 59),
    buildLogTime(24, 0),
    buildLogTime(24, 2),
  ]);
  expect(parseClockTimes('13:05', '00:30')).toEqual([buildLogTime(13, 5), buildLogTime(24, 30)]);
});

test('continues when a clock of twelve hours wraps', () => {
  expect(parseClockTimes('11:58', '12:59', '01:00', '12:17', '01:01')).toEqual([
    buildLogTime(11, 58),
    buildLogTime(12, 59),
    buildLogTime(13, 0),
    buildLogTime(24, 17),
    buildLogTime(25, 1),
  ]);
  expect(parseClockTimes('11:55', '00:05')).toEqual([buildLogTime(11, 55), buildLogTime(12, 5)]);
});

test('stands still where a clock is put back', () => {
  expect(parseClockTimes('05:07', '05:05', '05:06', '05:07', '05:11')).toEqual([
    buildLogTime(5, 7),
    buildLogTime(5, 7, 1),
    buildLogTime(5, 7, 2),
    buildLogTime(5, 7, 3),
    buildLogTime(5, 11),
  ]);
});

test.each(['kitchen', '2005-13-27', '2005-06-277', '05-06-27'])('refuses a name without a date: %s', (name) => {
  expect(() => parse('[03:41] <ana> eggs', name)).toThrow(ValidationError);
  expect(() => parse('[03:41] <ana> eggs', name)).toThrow(
    `file name does not begin with a date: ${name}; rename the file as YYYY-MM-DD`,
  );
});

test.each(['2005-06-27 a', '2005-06-27\ufffd'])('refuses a name that can begin no id: %j', (name) => {
  expect(() => parse('[03:41] <ana> eggs', name)).toThrow(
    `file name is not one word: ${JSON.stringify(name)}; rename the file, since ids of messages start with it`,
  );
});
