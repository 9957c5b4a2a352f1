import { join } from 'node:path';
import { PROJECT_ROOT } from '../../core/code/package-root.ts';
import { readText } from '../../core/files/files.ts';
import type { Plain } from '../composition/config-file.ts';
import { indexDocumentedRows, isKind, listCodeSpans, listKeysWithin, parseTables, type Schema } from './config-keys.ts';

/** The meanings of keys, from the references in docs: what an editor shows is what the pages say. */
interface Meanings {
  readonly byKey: ReadonlyMap<string, string>;
  /** Of members, such as datasets, by what they are and their name. */
  readonly byMember: ReadonlyMap<string, string>;
}

/** The text of a cell without links and escapes, and without the link to a section at its end. */
function toPlainText(cell: string): string {
  return cell
    .replace(/: \[[^\]]*\]\([^)]*\)$/, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\\(.)/g, '$1');
}

function readMeanings(pages: readonly string[]): Meanings {
  const texts = pages.map((page) => readText(join(PROJECT_ROOT, 'docs', page)));
  const rows = texts.flatMap((text) => [...indexDocumentedRows(text)]);
  const members = texts
    .flatMap(parseTables)
    .flatMap(([header, , ...body]) =>
      body.map(([name = '', meaning = '']): [string, string] => [
        `${header?.[0]} ${listCodeSpans(name)[0]}`,
        toPlainText(meaning),
      ]),
    );
  return {
    byKey: new Map(rows.toReversed().map(([id, { meaning }]) => [id, toPlainText(meaning)])),
    byMember: new Map(members.toReversed()),
  };
}

/** Places whose keys have their rows at another place, since the same schema is used there. */
const DOCUMENTED_AT: readonly (readonly [RegExp, string])[] = [
  [/^arms\{\}(?:\.(?:steps|then))?\[\]\./, 'arms{}.'],
  [/^(arms\{\}\.\w+)\+/, '$1'],
  [/^arms\{\}\.search\.[\w-]+(?= index: )/, 'arms{}.search{}'],
  [/\.blend\.\w+\.coordinates\./, '.blend.trajectory.'],
  [/^.*(?:\bembedding|encoders\[\])(?= encoder: )/, 'embedding'],
  [/^arms\{\}\.mix\.fit\.transfer\[\]\.(?=dataset )/, ''],
  [/(?<= index: run)\.path$/, '.file'],
];

/** The words for the members of a step in the heads of tables. */
const MEMBER_WORDS: Readonly<Record<string, readonly string[]>> = {
  search: ['index', 'source', 'candidates'],
  score: ['score', 'signal'],
  fuse: ['fuse', 'method', 'fusion'],
  blend: ['blend', 'mechanism'],
  rerank: ['rerank', 'method', 'selection'],
  select: ['select', 'method', 'selection'],
};

/** The meaning of a member of a step: `arms{}.fuse.rrf`. */
function findStepMember(id: string, { byKey, byMember }: Meanings): string | undefined {
  const [, step = '', member = ''] = /^arms\{\}\.(\w+)\.([\w-]+)$/.exec(id) ?? [];
  const words = MEMBER_WORDS[step];
  if (words === undefined) return undefined;
  return (
    words.map((word) => byMember.get(`${word} ${member}`)).find((text) => text !== undefined) ??
    byKey.get(`arms{}.${step}`)
  );
}

/** The id of a key and those of the keys that {@link DOCUMENTED_AT} leads to. */
function listDocumentedIds(id: string): string[] {
  const ids = [id];
  for (const [key, other] of DOCUMENTED_AT) ids.push((ids.at(-1) as string).replace(key, other));
  return ids;
}

/** The meaning of a member, by the key that names it: `arms{}.search{} index: bm25.index`. */
function findMemberMeaning(id: string, { byKey, byMember }: Meanings): string | undefined {
  const [, path = '', member = '', key = ''] = /^(\S+) \w+: (.*)\.(\w+)$/.exec(id) ?? [];
  const [kind = ''] = path
    .replace(/\[\]|\{\}/, '')
    .split('.')
    .slice(-1);
  const words = [key, kind, kind.replace(/s$/, ''), byMember.has(`${kind} ${member}`) ? kind : ''];
  return (
    words.map((word) => byMember.get(`${word} ${member}`)).find((text) => text !== undefined) ??
    byKey.get(path.replace(/\[\]$|\{\}$/, ''))
  );
}

/**
 * Writes the meaning of every key into a JSON schema, in place.
 *
 * @param pages of docs, with a row for each key; of two rows the one of the first page is taken
 */
export function describeKeys(schema: Plain, pages: readonly string[]): void {
  const meanings = readMeanings(pages);
  for (const { id, schema: key } of listKeysWithin(schema as Schema, '')) {
    const ids = listDocumentedIds(id);
    const find = (documented: string) =>
      isKind(key)
        ? findMemberMeaning(documented, meanings)
        : (meanings.byKey.get(documented) ?? findStepMember(documented, meanings));
    const meaning = ids.map(find).find((text) => text !== undefined);
    if (meaning !== undefined) (key as Plain).description = meaning;
  }
}
