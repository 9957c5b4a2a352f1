import { describe, expect, it } from 'vitest';
import { liftLinks, linkThreads, settleTimes } from './thread-parents.ts';

const buildThreadedMail = (id: string, inReplyTo: string[] = [], references: string[] = []) => ({
  id,
  inReplyTo,
  references,
});
const indexMails = (...mails: ReturnType<typeof buildThreadedMail>[]) =>
  new Map(mails.map((entry) => [entry.id, entry]));

describe('linkThreads', () => {
  it.each([
    [
      'the last of In-Reply-To that is there',
      buildThreadedMail('c', ['a', 'b', 'gone'], ['a']),
      { id: 'b', direct: true },
    ],
    ['else the last of References', buildThreadedMail('c', ['gone'], ['a', 'b']), { id: 'b', direct: true }],
    ['an older reference is an ancestor', buildThreadedMail('c', [], ['a', 'gone']), { id: 'a', direct: false }],
    ['never itself', buildThreadedMail('c', ['c'], ['a', 'c']), { id: 'a', direct: false }],
    ['nothing where all are missing', buildThreadedMail('c', ['gone'], ['gone']), undefined],
  ])('%s', (_, reply, link) => {
    expect(linkThreads(indexMails(buildThreadedMail('a'), buildThreadedMail('b'), reply)).get('c')).toEqual(link);
  });

  it('leaves out the link that would close a cycle', () => {
    const links = linkThreads(
      indexMails(buildThreadedMail('a', ['c']), buildThreadedMail('b', ['a']), buildThreadedMail('c', ['b'])),
    );
    expect([...links.keys()]).toEqual(['a', 'b']);
  });
});

describe('settleTimes', () => {
  it('moves answers after what they answer, along a whole chain, whatever the order', () => {
    const stated = new Map([
      ['c', 500],
      ['b', 90_000],
      ['a', 100_000],
      ['d', 200_000],
    ]);
    const links = new Map([
      ['b', { id: 'a', direct: true }],
      ['c', { id: 'b', direct: false }],
      ['d', { id: 'c', direct: true }],
    ]);
    expect(Object.fromEntries(settleTimes(stated, links))).toEqual({ a: 100_000, b: 101_000, c: 102_000, d: 200_000 });
  });
});

describe('liftLinks', () => {
  const links = new Map([
    ['b', { id: 'a', direct: true }],
    ['c', { id: 'b', direct: true }],
    ['d', { id: 'c', direct: true }],
    ['e', { id: 'a', direct: false }],
  ]);

  it('leaves links between kept mails as they are', () => {
    expect(liftLinks(new Set('abcde'), links, new Map())).toEqual(links);
  });

  it('hangs a mail from the nearest ancestor that was kept, which is not its parent', () => {
    expect(liftLinks(new Set('ad'), links, new Map()).get('d')).toEqual({ id: 'a', direct: false });
  });

  it('leaves a root where no ancestor was kept', () => {
    expect(liftLinks(new Set('d'), links, new Map()).has('d')).toBe(false);
  });

  it('hangs a mail that answered a copy from the first of its kind', () => {
    const lifted = liftLinks(new Set('abde'), links, new Map([['c', 'e']]));
    expect(lifted.get('d')).toEqual({ id: 'e', direct: true });
  });

  it('goes on upwards from a first copy that was itself dropped', () => {
    const lifted = liftLinks(new Set('abd'), links, new Map([['c', 'e']]));
    expect(lifted.get('d')).toEqual({ id: 'a', direct: false });
  });
});

describe('a thread of 50,000 mails, each an answer to the one before it', () => {
  const SIZE = 50_000;
  const mails = Array.from({ length: SIZE }, (_, i) => buildThreadedMail(`m${i}`, i === 0 ? [] : [`m${i - 1}`]));

  it.each([
    ['first mail first', mails],
    ['last mail first', mails.toReversed()],
  ])('is linked, dated and lifted in linear time, %s', (_, ordered) => {
    const links = linkThreads(indexMails(...ordered));
    expect(links.size).toBe(SIZE - 1);
    const times = settleTimes(new Map(ordered.map(({ id }) => [id, 0])), links);
    expect(times.get(`m${SIZE - 1}`)).toBe((SIZE - 1) * 1000);
    const kept = new Set(['m0', ...mails.slice(SIZE / 2).map(({ id }) => id)]);
    expect(liftLinks(kept, links, new Map()).get(`m${SIZE / 2}`)).toEqual({ id: 'm0', direct: false });
  });
});
