import { expect, test } from 'vitest';
import { Counts } from '../prepared/prepared.ts';
import { buildSampleLog } from './irc.fixture.ts';
import { buildIrcTurns, parseIrcLinks } from './irc.ts';
import { parseIrcLog } from './irc-log.ts';

const NAME = '2005-06-27_12';
const SAID = [
  '[05:00] <ana> how many eggs?',
  '[05:00] <bea> ana: four',
  '[05:00] <cem> who is there',
  '[05:01] <dan> ana, cem: me, and five',
  '=== eve has joined #kitchen',
  '[05:01] <ana> hello eve',
  '[05:02] <ana> thanks',
];
const LINKS = '1000 1000 -\n1000 1001 -\n998 1002 -\n1000 1003 -\n1002 1003 -\n1004 1005 -\n1001 1006 -\n';
const log = parseIrcLog(NAME, buildSampleLog(SAID), new Counts());
const { turns, queries, judgements, severalParents } = buildIrcTurns({
  log,
  answers: parseIrcLinks(LINKS, 'x', log.lineCount),
  split: 'test',
});
const findLineTurn = (line: number) => turns.find(({ id }) => id === `${NAME}:${String(line).padStart(4, '0')}`);

test('every message is a turn of its file, in the order of the log', () => {
  expect(turns).toHaveLength(906);
  expect(findLineTurn(7)).toEqual({
    id: `${NAME}:0007`,
    conversationId: `t-${NAME}:0007`,
    parentId: null,
    timestamp: Date.UTC(2005, 5, 27, 0, 1, 0, 3),
    author: 'nick0',
    channel: NAME,
    text: 'words of line 7',
  });
  const times = turns.map(({ timestamp }) => timestamp);
  expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
});

test('a conversation is a tree of nearest parents; who answers the server answers nobody', () => {
  const places = [998, 1000, 1001, 1002, 1003, 1005, 1006].map((line) => [
    findLineTurn(line)?.parentId,
    findLineTurn(line)?.conversationId,
  ]);
  expect(places).toEqual([
    [null, `t-${NAME}:0998`],
    [null, `t-${NAME}:1000`],
    [`${NAME}:1000`, `t-${NAME}:1000`],
    [`${NAME}:0998`, `t-${NAME}:0998`],
    [`${NAME}:1002`, `t-${NAME}:0998`],
    [null, `t-${NAME}:1005`],
    [`${NAME}:1001`, `t-${NAME}:1000`],
  ]);
});

test('asks every message after the context that answers another, in the words that it has', () => {
  expect(queries.map(({ turnId }) => turnId)).toEqual([1001, 1002, 1003, 1006].map((line) => `${NAME}:${line}`));
  expect(queries[2]).toEqual({
    id: `q-${NAME}:1003`,
    turnId: `${NAME}:1003`,
    text: 'ana, cem: me, and five',
    timestamp: Date.UTC(2005, 5, 27, 5, 1),
    anchorTurnId: null,
    author: 'dan',
    channel: NAME,
    kind: 'statement',
    split: 'test',
    cluster: NAME,
  });
});

test('judges all that is answered, also outside the tree', () => {
  const listLineJudgements = (line: number) =>
    judgements.filter(({ queryId }) => queryId === `q-${NAME}:${line}`).map(({ turnId, grade }) => [turnId, grade]);
  expect(listLineJudgements(1003)).toEqual([
    [`${NAME}:0998`, 2],
    [`${NAME}:1000`, 3],
    [`${NAME}:1001`, 1],
    [`${NAME}:1002`, 3],
  ]);
  expect(severalParents).toBe(1);
});
