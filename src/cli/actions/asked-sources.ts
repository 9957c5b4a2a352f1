import { ValidationError } from '../../core/errors/errors.ts';
import { readYaml } from '../../lab/composition/config-file.ts';
import type { AssemblySources } from '../../memory/context/assemble.ts';
import { createDomainSource } from '../../memory/context/domain-source.ts';
import { openFactStore } from '../../memory/facts/fact-store.ts';
import { readDomain } from '../../rank/query/domain/domain-options.ts';
import { openDomainDatabase } from '../../rank/query/domain/domain-records.ts';

/** Flags of the sources of a question beside turns. */
export interface SourceFlags {
  readonly facts?: string;
  readonly domain?: string;
  readonly database?: string;
  readonly timeZone: string;
}

/** The sources of a question beside turns. */
export type BesideSources = Pick<AssemblySources, 'facts' | 'domain'>;

/** Something open, and what closes it. */
interface Opened {
  readonly sources: BesideSources;
  close(): Promise<void>;
}

async function openFacts(folder: string): Promise<Opened> {
  const facts = await openFactStore(folder, { readOnly: true });
  return { sources: { facts }, close: () => facts.close() };
}

async function openDomain(file: string, address: string, timeZone: string): Promise<Opened> {
  const domain = readDomain(readYaml(file), file);
  const database = await openDomainDatabase(address);
  return {
    sources: { domain: createDomainSource({ database, domain, timeZone }) },
    close: () => database.dispose(),
  };
}

/**
 * Works with the facts and the database that flags name, then closes them, also after an error.
 *
 * @throws ValidationError for a domain without a database, and the other way round; as `openFactStore`, `readDomain`
 *   and `openDomainDatabase`.
 */
export async function runWithSources<T>(
  { facts, domain, database, timeZone }: SourceFlags,
  work: (sources: BesideSources) => Promise<T>,
): Promise<T> {
  if ((domain === undefined) !== (database === undefined))
    throw new ValidationError('--domain FILE and --database ADDRESS need each other; pass both, or neither');
  const opened: Opened[] = [];
  try {
    if (facts !== undefined) opened.push(await openFacts(facts));
    if (domain !== undefined) opened.push(await openDomain(domain, database as string, timeZone));
    return await work(Object.assign({}, ...opened.map(({ sources }) => sources)));
  } finally {
    for (const { close } of opened) await close();
  }
}
