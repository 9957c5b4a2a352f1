/** What links a mail to those before it. */
export interface Threaded {
  readonly id: string;
  readonly inReplyTo: readonly string[];
  readonly references: readonly string[];
}

/** Where a mail hangs in its thread. */
export interface Link {
  readonly id: string;
  /** True where this is the mail that was answered; false where only an older mail of the thread is known. */
  readonly direct: boolean;
}

/**
 * The mail that each one answers: the last id of In-Reply-To that is there, else the last of References. Where that one is missing but an older reference is
 * there, the older one is an ancestor and not the parent. A link that would close a cycle is left out.
 *
 * @param mails by id.
 */
export function linkThreads(mails: ReadonlyMap<string, Threaded>): Map<string, Link> {
  const links = new Map<string, Link>();
  for (const mail of mails.values()) {
    const link = linkOf(mail, mails);
    if (link !== null && !leadsTo(links, link.id, mail.id)) links.set(mail.id, link);
  }
  return links;
}

function linkOf(mail: Threaded, mails: ReadonlyMap<string, Threaded>): Link | null {
  const known = (id: string) => id !== mail.id && mails.has(id);
  const answered = mail.inReplyTo.findLast(known);
  if (answered !== undefined) return { id: answered, direct: true };
  const referred = mail.references.findLast(known);
  return referred === undefined ? null : { id: referred, direct: referred === mail.references.at(-1) };
}

function leadsTo(links: ReadonlyMap<string, Link>, from: string, to: string): boolean {
  for (let at: string | undefined = from; at !== undefined; at = links.get(at)?.id) if (at === to) return true;
  return false;
}

const SECOND = 1000;

/**
 * Times in which each mail comes at least a second after the mail that it hangs from. A clock may be wrong, but an answer is written after its parent and quotes it.
 * A moved time is computed from the link, so a mail with such a time must make no query.
 */
export function settleTimes(
  stated: ReadonlyMap<string, number>,
  links: ReadonlyMap<string, Link>,
): ReadonlyMap<string, number> {
  const settled = new Map<string, number>();
  const settle = (id: string): number => {
    const known = settled.get(id);
    if (known !== undefined) return known;
    const link = links.get(id);
    const own = stated.get(id) as number;
    const time = link === undefined ? own : Math.max(own, settle(link.id) + SECOND);
    settled.set(id, time);
    return time;
  };
  for (const id of stated.keys()) settle(id);
  return settled;
}

/**
 * Links among the mails that were kept. A mail that hung from a copy hangs from the first of its kind, as if it had answered that one; a mail whose parent was
 * dropped for another reason hangs from the nearest ancestor that was kept.
 *
 * @param copies for each dropped copy the mail that it repeats, itself kept or dropped for want of text.
 */
export function liftLinks(
  kept: ReadonlySet<string>,
  links: ReadonlyMap<string, Link>,
  copies: ReadonlyMap<string, string>,
): Map<string, Link> {
  const lifted = new Map<string, Link>();
  for (const id of kept) {
    let link = links.get(id);
    while (link !== undefined && !kept.has(link.id)) {
      const first = copies.get(link.id);
      const above = links.get(link.id);
      if (first !== undefined) link = { id: first, direct: link.direct };
      else link = above === undefined ? undefined : { id: above.id, direct: false };
    }
    if (link !== undefined) lifted.set(id, link);
  }
  return lifted;
}
