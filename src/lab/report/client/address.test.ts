import { expect, test } from 'vitest';
import { buildHandmadeArm, buildHandmadePayload } from '../page/page.harness.ts';
import { formatAddress, parseAddress } from './address.ts';
import * as app from './app.ts';

const createState = () =>
  app.createApp(
    buildHandmadePayload(
      [
        buildHandmadeArm('a & b'),
        buildHandmadeArm('+ c=d'),
        buildHandmadeArm('e', { coordinateNames: ['depth', 'temporal'] }),
      ],
      {
        metrics: ['mrr@10', 'recall@10'],
        fates: ['kept', 'candidates'],
        strata: [{ name: 'kind', levels: [{ name: 'long & late', queries: 3 }], of: [0, 0, 0] }],
      },
    ),
  );

test('what an address holds comes back from it, names of any kind', () => {
  const state = createState();
  const choice = {
    left: 1,
    right: 0,
    metric: 1,
    query: 2,
    order: 'loss',
    words: 'what = <that>?',
    filter: '+ c',
    stratum: 'kind: long & late',
    moved: 'down',
    lost: 'candidates',
    horizontal: 'depth',
    vertical: 'temporal',
  } as const;
  app.choose(state, choice);
  expect(parseAddress(createState(), formatAddress(state))).toEqual(choice);
});

test('filters that are not set are not in the address', () => {
  const state = createState();
  app.choose(state, { left: 0, right: 2, query: 1 });
  expect(formatAddress(state)).toBe('#a=a+%26+b&b=e&metric=mrr%4010&query=b');
});

test('the address of another run keeps what this page has', () => {
  const found = parseAddress(
    createState(),
    '#a=gone&b=e&metric=gone&query=gone&lost=gone&rank=gone&stratum=gone&order=gone&x=gone&y=gone',
  );
  expect(found).toEqual({ right: 2 });
  expect(parseAddress(createState(), '#strata')).toEqual({});
  expect(parseAddress(createState(), '')).toEqual({});
});
