import type { StartProgress } from '../../core/terminal/progress.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { Counts } from '../prepared/counts.ts';
import { withoutQuotes } from './mail-quotes.ts';
import { withoutMatter } from './mail-text.ts';
import { EarlierBodies } from './quoted-lines.ts';
import type { DatedMail } from './read-mails.ts';
import { findFirstCopies, splitIntoTokens, Vocabulary } from './shingles.ts';
import { type Link, liftLinks } from './thread-parents.ts';

/** A mail whose text is its author's own. */
export interface CleanMail {
  readonly mail: DatedMail;
  readonly time: number;
  readonly text: string;
  readonly tokens: number;
  /** The first mail with the same text, null for that one itself. */
  readonly copyOf: string | null;
}

const UPDATE_EVERY = 50;

/** Cleans the texts in time order; mails may come out empty. */
export function cleanMails(
  mails: ReadonlyMap<string, DatedMail>,
  times: ReadonlyMap<string, number>,
  counts: Counts,
  progress: StartProgress,
): CleanMail[] {
  const ordered = [...mails.values()].sort(
    (a, b) => (times.get(a.id) as number) - (times.get(b.id) as number) || compareBytes(a.id, b.id),
  );
  const shown = progress('clean texts', ordered.length);
  const vocabulary = new Vocabulary();
  const earlier = new EarlierBodies(vocabulary);
  const unquoted: string[] = [];
  const texts = ordered.map((mail, i) => {
    const lines = dropForeignLines(mail.body, counts);
    const unsaid = earlier.selectUnsaidLines(lines);
    counts.add('lines cut: said in an earlier mail', lines.length - unsaid.length);
    earlier.add(mail.body);
    unquoted.push(lines.join('\n'));
    if (i % UPDATE_EVERY === 0) shown.update(i);
    return unsaid
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  });
  // Finds copies before common lines are removed: the second copy has no text afterwards.
  const copies = findFirstCopies(unquoted, vocabulary);
  shown.finish();
  return ordered.map((mail, i) => ({
    mail,
    time: times.get(mail.id) as number,
    text: texts[i] as string,
    tokens: splitIntoTokens(texts[i] as string).length,
    copyOf: ordered[copies[i] as number]?.id ?? null,
  }));
}

function dropForeignLines(body: string, counts: Counts): readonly string[] {
  const { lines, cut } = withoutMatter(body);
  for (const [name, amount] of Object.entries(cut)) counts.add(`lines cut: ${name}`, amount);
  const { quotes, attributions, ...own } = withoutQuotes(lines);
  counts.add('lines cut: quotes', quotes);
  counts.add('lines cut: attributions', attributions);
  return own.lines;
}

/** Mails that stay, how they hang together, and those that don't stay; both in time order. */
export interface Selection {
  readonly kept: readonly CleanMail[];
  readonly dropped: readonly CleanMail[];
  readonly links: ReadonlyMap<string, Link>;
}

/** Drops mails without text, near-duplicates but the first, and bulk mail that answers nothing. */
export function selectMails(mails: readonly CleanMail[], links: ReadonlyMap<string, Link>, counts: Counts): Selection {
  const copies = new Map<string, string>();
  for (const { mail, copyOf } of mails) if (copyOf !== null) copies.set(mail.id, copyOf);
  const firsts = mails.filter((item) => item.copyOf === null);
  const written = firsts.filter((item) => item.tokens > 0);
  const answering = liftLinks(collectMailIds(written), links, copies);
  // That a later mail answers a newsletter does not keep the newsletter: it would be there because it is an answer.
  const kept = written.filter((item) => !item.mail.bulk || answering.has(item.mail.id));
  counts.add('dropped: near-duplicates', copies.size);
  counts.add('dropped: no text of their own', firsts.length - written.length);
  counts.add('dropped: newsletters that answer nothing', written.length - kept.length);
  const stays = new Set(kept);
  const dropped = mails.filter((item) => !stays.has(item));
  return { kept, dropped, links: liftLinks(collectMailIds(kept), links, copies) };
}

function collectMailIds(items: readonly CleanMail[]): Set<string> {
  return new Set(items.map(({ mail }) => mail.id));
}
