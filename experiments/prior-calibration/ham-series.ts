import { computeHash } from '../../src/core/hash/hash.ts';
import type { StartProgress } from '../../src/core/terminal/progress.ts';
import { findMailArchive, readHamMails, readSpamMails } from '../../src/data/mail/mail-archive.ts';
import { withoutQuotes } from '../../src/data/mail/mail-quotes.ts';
import { withoutMatter } from '../../src/data/mail/mail-text.ts';
import { type DatedMail, type RawMail, readMails } from '../../src/data/mail/read-mails.ts';
import { findFirstCopies, splitIntoTokens, Vocabulary } from '../../src/data/mail/shingles.ts';
import { linkThreads } from '../../src/data/mail/thread-parents.ts';
import { Counts, findTestStart, isDev } from '../../src/data/prepared/prepared.ts';
import { findChainEnds } from '../../src/model/turns/conversation.ts';
import { type OutcomeSeries, type OutcomeTurn, sortByTime } from './outcome-series.ts';
import type { PriorCalibrationSettings } from './settings.ts';

const HOUR_MILLISECONDS = 3_600_000;

/** A mail as the experiment needs it: in the order of time. */
interface LabelledMail {
  readonly mail: DatedMail;
  readonly id: string;
  readonly timestamp: number;
  readonly ham: boolean;
  /** Without quotes, signatures, footers and forwarded mail. */
  readonly text: string;
}

/** The mails of the archive by id. Spam with the id of a wanted mail, or of earlier spam, is a copy that is left out. */
async function readLabelled(settings: PriorCalibrationSettings, counts: Counts, progress: StartProgress) {
  const archive = findMailArchive();
  const thin = (mails: readonly RawMail[]) => mails.filter((_, i) => i % settings.everyMail === 0);
  const ham = await readMails(thin(readHamMails(archive)), counts, progress);
  const spam = await readMails(thin(readSpamMails(archive)), counts, progress);
  const fresh = [...spam.values()].filter(({ id }) => !ham.has(id));
  counts.add('skipped: id seen', spam.size - fresh.length);
  return [...ham.values(), ...fresh].map((mail) => ({ mail, ham: ham.has(mail.id) }));
}

/** Mails of the dates with a word of their own, in time order. */
function selectDated(
  read: readonly { readonly mail: DatedMail; readonly ham: boolean }[],
  { from, until }: PriorCalibrationSettings,
  counts: Counts,
): LabelledMail[] {
  const [start, end] = [Date.parse(from), Date.parse(until)];
  const dated = read.filter(({ mail }) => mail.time >= start && mail.time < end);
  counts.add('left out: of other dates', read.length - dated.length);
  const texts = dated.map((one) => ({
    ...one,
    id: one.mail.id,
    timestamp: one.mail.time,
    text: withoutQuotes(withoutMatter(one.mail.body).lines).lines.join('\n').trim(),
  }));
  const written = texts.filter(({ text }) => splitIntoTokens(text).length > 0);
  counts.add('left out: no text of their own', dated.length - written.length);
  return sortByTime(written);
}

/** [mails] the id of the first mail with nearly the same text, null for a first one. */
function findOriginals(mails: readonly LabelledMail[]): (string | null)[] {
  const vocabulary = new Vocabulary();
  const texts = mails.map(({ text }) => vocabulary.encode(splitIntoTokens(text)));
  return Array.from(findFirstCopies(texts), (first) => mails[first]?.id ?? null);
}

/** The thread of a mail, or the group of its near-duplicates: the root of what it answers or repeats. */
function findClusters(mails: readonly LabelledMail[], originals: readonly (string | null)[]): Map<string, string> {
  const links = linkThreads(new Map(mails.map(({ id, mail }) => [id, mail])));
  const repeats = new Map(mails.map(({ id }, i) => [id, originals[i] ?? null]));
  return findChainEnds(repeats.keys(), (id) => links.get(id)?.id ?? repeats.get(id) ?? null);
}

/** The first 70 % of the clusters are dev, by the time of their first mail. */
function splitByTime(mails: readonly LabelledMail[], clusters: ReadonlyMap<string, string>): Set<string> {
  const starts = new Map<string, number>();
  for (const { id, timestamp } of mails) {
    const cluster = clusters.get(id) as string;
    if (!starts.has(cluster)) starts.set(cluster, timestamp);
  }
  const listed = [...starts].map(([id, timestamp]) => ({ id, timestamp }));
  const first = findTestStart(listed);
  return new Set(listed.filter((start) => isDev(start, first)).map(({ id }) => id));
}

function toTurns(mails: readonly LabelledMail[], clusters: ReadonlyMap<string, string>): OutcomeTurn[] {
  const dev = splitByTime(mails, clusters);
  return mails.map(({ id, text, timestamp, ham }) => {
    const cluster = clusters.get(id) as string;
    return { id, text, timestamp, outcome: ham ? 1 : 0, cluster, dev: dev.has(cluster) };
  });
}

/** The mails of the archive with ham as outcome: all of them, and without the later ones of near-duplicates. */
export async function buildHamSeries(settings: PriorCalibrationSettings, progress: StartProgress) {
  const counts = new Counts();
  const mails = selectDated(await readLabelled(settings, counts, progress), settings, counts);
  const originals = findOriginals(mails);
  const clusters = findClusters(mails, originals);
  const firsts = mails.filter((_, i) => originals[i] === null);
  const delay = settings.labelHours * HOUR_MILLISECONDS;
  const build = (
    name: string,
    kept: readonly LabelledMail[],
    facts: Readonly<Record<string, number>>,
  ): OutcomeSeries => {
    const turns = toTurns(kept, clusters);
    return {
      name,
      source: 'the mails of SpamAssassin, ham and spam',
      turns,
      delay,
      hash: computeHash(turns.map(({ id, text, outcome }) => [id, text, outcome])),
      facts,
    };
  };
  const facts = counts.toFacts();
  const copies = mails.filter((_, i) => originals[i] !== null);
  const near = { 'near-duplicates': copies.length, 'near-duplicates, spam': copies.filter(({ ham }) => !ham).length };
  return {
    ham: build('ham', mails, { ...facts, ...near }),
    'ham, no near-duplicates': build('ham, no near-duplicates', firsts, {
      ...facts,
      'left out: near-duplicates': copies.length,
    }),
  } as const;
}
