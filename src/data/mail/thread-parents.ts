/** The links of a mail to earlier mails. */
interface Threaded {
  readonly id: string;
  readonly inReplyTo: readonly string[];
  readonly references: readonly string[];
}

/** The place of a mail in its thread. */
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
  const roots = new Roots();
  for (const mail of mails.values()) {
    const link = findParentLink(mail, mails);
    // A mail without a link is a root, so that only its own tree leads to it.
    if (link === null || roots.findTopmost(link.id) === mail.id) continue;
    links.set(mail.id, link);
    roots.hang(mail.id, link.id);
  }
  return links;
}

/** The roots of trees that grow together. Each look halves the way to the root (path halving), so that long threads don't cost the square of their length. */
class Roots {
  readonly #above = new Map<string, string>();

  /** Hangs a root from something in another tree. */
  hang(root: string, above: string): void {
    this.#above.set(root, above);
  }

  findTopmost(id: string): string {
    let at = id;
    for (let above = this.#above.get(at); above !== undefined; above = this.#above.get(at)) {
      const next = this.#above.get(above);
      if (next !== undefined) this.#above.set(at, next);
      at = next ?? above;
    }
    return at;
  }
}

function findParentLink(mail: Threaded, mails: ReadonlyMap<string, Threaded>): Link | null {
  const isKnownMail = (id: string) => id !== mail.id && mails.has(id);
  const answered = mail.inReplyTo.findLast(isKnownMail);
  if (answered !== undefined) return { id: answered, direct: true };
  const referred = mail.references.findLast(isKnownMail);
  return referred === undefined ? null : { id: referred, direct: referred === mail.references.at(-1) };
}

const SECOND_MILLISECONDS = 1000;

/**
 * Times in which each mail comes at least a second after the mail that it hangs from. A clock may be wrong, but an answer is written after its parent and quotes it.
 * A moved time is computed from the link, so a mail with such a time must make no query.
 *
 * @param step the least time between a mail and its parent, in milliseconds.
 */
export function settleTimes(
  stated: ReadonlyMap<string, number>,
  links: ReadonlyMap<string, Link>,
  step = SECOND_MILLISECONDS,
): ReadonlyMap<string, number> {
  const settled = new Map<string, number>();
  for (const start of stated.keys()) {
    const path: string[] = [];
    for (let at: string | undefined = start; at !== undefined && !settled.has(at); at = links.get(at)?.id)
      path.push(at);
    for (const id of path.reverse()) {
      const above = links.get(id)?.id;
      const least = above === undefined ? Number.NEGATIVE_INFINITY : (settled.get(above) as number) + step;
      settled.set(id, Math.max(stated.get(id) as number, least));
    }
  }
  return settled;
}

/**
 * Links among the mails that were kept. A mail that hung from a copy hangs from the first of its kind, as if it had answered that one; a mail whose parent was
 * dropped for another reason hangs from the nearest ancestor that was kept.
 *
 * @param copies for each dropped copy the mail that it repeats, itself kept or dropped because it has no text.
 */
export function liftLinks(
  kept: ReadonlySet<string>,
  links: ReadonlyMap<string, Link>,
  copies: ReadonlyMap<string, string>,
): Map<string, Link> {
  const lifted = new Map<string, Link>();
  const stands = new StandIns(kept, links, copies);
  for (const id of kept) {
    const link = links.get(id);
    const above = link === undefined ? null : stands.findLinkOf(link.id);
    if (link !== undefined && above !== null) lifted.set(id, { id: above.id, direct: link.direct && above.direct });
  }
  return lifted;
}

/** The new parents of the answers to dropped mails. Visits each dropped mail once. */
class StandIns {
  readonly #kept: ReadonlySet<string>;
  readonly #links: ReadonlyMap<string, Link>;
  readonly #copies: ReadonlyMap<string, string>;
  readonly #found = new Map<string, Link | null>();

  constructor(kept: ReadonlySet<string>, links: ReadonlyMap<string, Link>, copies: ReadonlyMap<string, string>) {
    this.#kept = kept;
    this.#links = links;
    this.#copies = copies;
  }

  /** The mail itself if it was kept, else the first copy, or the nearest ancestor, which is not the answered mail; null if none was kept. */
  findLinkOf(id: string): Link | null {
    const path: string[] = [];
    let at: string | undefined = id;
    while (at !== undefined && !this.#kept.has(at) && !this.#found.has(at)) {
      path.push(at);
      at = this.#copies.get(at) ?? this.#links.get(at)?.id;
    }
    let link: Link | null = null;
    if (at !== undefined) link = this.#kept.has(at) ? { id: at, direct: true } : (this.#found.get(at) ?? null);
    for (const passed of path.reverse()) {
      if (link !== null && !this.#copies.has(passed)) link = { id: link.id, direct: false };
      this.#found.set(passed, link);
    }
    return link;
  }
}
