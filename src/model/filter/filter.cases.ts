import type { FilterSubject, FilterVariables } from './filter.ts';

/** Turns that differ in one thing each. */
export const TURNS = {
  plain: { id: 'plain', channel: 'ops', author: 'ann', timestamp: 1000, attributes: { outcome: 1, kind: 'fact' } },
  half: { id: 'half', channel: 'ops', author: 'bob', timestamp: 2000, attributes: { outcome: 0.5, tags: ['x', 'y'] } },
  bare: { id: 'bare', timestamp: 3000 },
  text: { id: 'text', channel: 'dev', timestamp: 4000, attributes: { outcome: '1', kind: '', tags: [] } },
  yes: { id: 'yes', channel: '1', timestamp: 5000, attributes: { outcome: true, kind: 'facts', tags: 'xyz' } },
  nan: { id: 'nan', channel: '', timestamp: 6000, attributes: { outcome: Number.NaN } },
  astral: { id: 'astral', channel: '😀', timestamp: 7000, attributes: { kind: '😀', "it's": false } },
  privateUse: { id: 'privateUse', channel: '\ue000', timestamp: 8000, attributes: { kind: '\ue000' } },
  large: { id: 'large', timestamp: 9000, attributes: { outcome: Number.MAX_SAFE_INTEGER } },
} as const satisfies Record<string, FilterSubject>;

export type TurnName = keyof typeof TURNS;

const ALL = Object.keys(TURNS) as TurnName[];
const without = (...names: TurnName[]) => ALL.filter((name) => !names.includes(name));

export interface FilterCase {
  readonly text: string;
  readonly accepted: readonly TurnName[];
  readonly variables?: FilterVariables;
}

/** What each filter accepts, written by hand from the rules of docs/filters.md. */
export const FILTER_CASES: readonly FilterCase[] = [
  { text: "channel = 'ops'", accepted: ['plain', 'half'] },
  { text: "channel != 'ops'", accepted: without('plain', 'half') },
  { text: 'channel = null', accepted: ['bare', 'large'] },
  { text: 'exists channel', accepted: without('bare', 'large') },
  { text: 'channel = 1', accepted: [] },
  { text: 'channel != 1', accepted: ALL },
  { text: 'outcome = 1', accepted: ['plain'] },
  { text: "outcome = '1'", accepted: ['text'] },
  { text: 'outcome = true', accepted: ['yes'] },
  { text: 'outcome = 1.0 or outcome = 5e-1', accepted: ['plain', 'half'] },
  { text: 'outcome = null', accepted: ['bare', 'nan', 'astral', 'privateUse'] },
  { text: 'exists outcome', accepted: ['plain', 'half', 'text', 'yes', 'large'] },
  { text: 'outcome >= 0.5', accepted: ['plain', 'half', 'large'] },
  { text: 'not outcome >= 0.5', accepted: without('plain', 'half', 'large') },
  { text: 'outcome < 0.5', accepted: [] },
  { text: 'outcome >= false', accepted: [] },
  { text: 'outcome <= null', accepted: [] },
  { text: 'outcome between 0.5 and 1', accepted: ['plain', 'half'] },
  { text: 'outcome between 1 and 0.5', accepted: [] },
  { text: "outcome between '0' and '2'", accepted: ['text'] },
  { text: "outcome between 0 and '2'", accepted: [] },
  { text: 'outcome = 9007199254740991', accepted: ['large'] },
  { text: 'outcome > 9007199254740990', accepted: ['large'] },
  { text: 'outcome in []', accepted: [] },
  { text: 'not outcome in []', accepted: ALL },
  { text: 'outcome not in []', accepted: ALL },
  { text: "outcome in [1, '1', true]", accepted: ['plain', 'text', 'yes'] },
  { text: 'outcome in [null, 1]', accepted: ['plain', 'bare', 'nan', 'astral', 'privateUse'] },
  { text: "tags = 'x'", accepted: [] },
  { text: "tags contains 'x'", accepted: ['half', 'yes'] },
  { text: "tags contains ''", accepted: ['yes'] },
  { text: "tags contains 'yz'", accepted: ['yes'] },
  { text: "kind contains 'fact'", accepted: ['plain', 'yes'] },
  { text: "kind contains ''", accepted: ['plain', 'text', 'yes', 'astral', 'privateUse'] },
  { text: "outcome contains '1'", accepted: ['text'] },
  { text: "id contains 'a'", accepted: ['plain', 'half', 'bare', 'nan', 'astral', 'privateUse', 'large'] },
  { text: 'exists tags', accepted: ['half', 'text', 'yes'] },
  // U+1F600 comes after U+E000 in UTF-8 and before it in UTF-16.
  { text: "kind > '\ue000'", accepted: ['astral'] },
  { text: "channel > '\ue000'", accepted: ['astral'] },
  { text: "kind < '😀' and kind > 'facts'", accepted: ['privateUse'] },
  { text: "`it's` = false", accepted: ['astral'] },
  { text: 'exists constructor or exists `__proto__`', accepted: [] },
  { text: 'timestamp > 7000', accepted: ['privateUse', 'large'] },
  { text: 'timestamp in [1000, 2000.5, null]', accepted: ['plain'] },
  { text: 'timestamp = $query.channel', accepted: [], variables: { channel: '1000' } },
  { text: 'channel = $query.channel', accepted: ['plain', 'half'], variables: { channel: 'ops' } },
  { text: 'channel = $query.channel', accepted: ['bare', 'large'], variables: { channel: null } },
  { text: 'channel = $query.channel', accepted: ['bare', 'large'], variables: {} },
  {
    text: 'channel in [$query.channel, $query.`other one`]',
    accepted: ['text', 'privateUse'],
    variables: { channel: 'dev', 'other one': '\ue000' },
  },
  {
    text: 'timestamp < $query.timestamp and outcome > $query.least',
    accepted: ['plain'],
    variables: { timestamp: 9000, least: 0.5 },
  },
  { text: 'tags = $query.tags', accepted: ['half'], variables: { tags: ['x', 'y'] } },
  { text: 'tags = $query.tags', accepted: [], variables: { tags: ['y', 'x'] } },
  { text: 'tags = $query.tags', accepted: ['text'], variables: { tags: [] } },
  { text: 'tags in [$query.tags]', accepted: ['half'], variables: { tags: ['x', 'y'] } },
  { text: 'tags contains $query.tag', accepted: ['half', 'yes'], variables: { tag: 'y' } },
  { text: 'tags contains $query.tag', accepted: [], variables: { tag: ['y'] } },
  {
    text: "not (channel = 'ops' or channel = 'dev') and exists channel",
    accepted: ['yes', 'nan', 'astral', 'privateUse'],
  },
  { text: "channel = 'ops' and outcome = 1 or channel = 'dev'", accepted: ['plain', 'text'] },
  { text: "channel = 'ops' and (outcome = 1 or channel = 'dev')", accepted: ['plain'] },
  { text: "not channel = 'ops' and channel = 'dev'", accepted: ['text'] },
  { text: "NOT channel = 'ops' AND channel IN ['dev']", accepted: ['text'] },
];

/** Variables that no attribute may equal: both compilations refuse them, also behind a condition that is false. */
export const REFUSED_VARIABLES: readonly (readonly [value: unknown, expected: RegExp])[] = [
  [Number.NaN, /^invalid filter at \$query\.x: expected a finite number, got NaN; compare with a finite number$/],
  [Number.NEGATIVE_INFINITY, /expected a finite number, got -Infinity/],
  [2 ** 53, /expected an integer of at most 9007199254740991 in magnitude, got 9007199254740992; write it as a string/],
  ['\ud83d', /expected well-formed Unicode without U\+0000/],
  ['a\0', /expected well-formed Unicode without U\+0000/],
  [['a', '\udc00'], /expected well-formed Unicode without U\+0000/],
  [
    ['a', 1],
    /expected a string, a number, a boolean, a list of strings or null, got \["a",1\]; pass a list of strings/,
  ],
  [{ a: 1 }, /expected a string, a number, a boolean, a list of strings or null, got \{"a":1\}; pass another value/],
];
