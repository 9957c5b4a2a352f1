import { closeSync, fsyncSync, openSync } from 'node:fs';
import { z } from 'zod';
import { StorageError, ValidationError } from '../../../core/errors/errors.ts';
import { writeFully } from '../../../core/files/files.ts';
import { readLines } from '../../../core/files/text-lines.ts';
import { computeHash } from '../../../core/hash/hash.ts';
import { check } from '../../../core/validation/validation.ts';
import { isSensitive } from '../../../model/turns/memory-fields.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { hashFileContent } from '../../encoders/precomputed/content-hash.ts';
import { listConcepts, readTitle } from '../graph-moment.ts';
import type { ConceptFileSource } from './concept-source.ts';

const text = z.string().min(1);

const header = z.strictObject({
  format: z.literal('ragpp-concepts'),
  version: z.literal(1),
  model: text,
  /** Hash of what the model was asked. */
  prompts: text,
  /** Hash of the ids and texts of all turns: {@link hashTurnTexts}. */
  corpus: text,
});

const line = z.strictObject({
  id: text,
  /** Canonical forms, in the order of the turn. */
  concepts: z.array(text),
  /** Subject and object are among the concepts. */
  triples: z.array(z.strictObject({ subject: text, relation: text, object: text })),
  /** The relations that this turn brought. */
  relations: z.array(z.strictObject({ relation: text, definition: text, same: text.nullable() })).exactOptional(),
});

/** How a file of concepts was made. */
export type ConceptFileHeader = z.output<typeof header>;
/** The concepts and triples of a turn in a file of concepts. */
export type ConceptLine = z.output<typeof line>;

/** A file of concepts: see docs/concept-graph.md. */
export interface ConceptFile {
  readonly header: ConceptFileHeader;
  readonly lines: readonly ConceptLine[];
}

/** Hash of the ids and texts of turns in any order. */
export function hashTurnTexts(turns: readonly Turn[]): string {
  return computeHash(turns.map(({ id, text: of }) => [id, of] as const).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function findLineFault({ concepts, triples }: ConceptLine): string | null {
  const known = new Set(concepts);
  const end = triples.flatMap(({ subject, object }) => [subject, object]).find((form) => !known.has(form));
  return end === undefined ? null : `triple has an end that is no concept of the turn: ${end}`;
}

/** A line of a file, parsed; undefined if it is not JSON. */
function parseLine(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}

/** What is wrong with a line, without its text. */
function describeLineFault(row: unknown, seen: ReadonlySet<string>): string | null {
  const checked = check(line, row);
  if ('faults' in checked) {
    const [{ path, expected }] = checked.faults as [(typeof checked.faults)[number]];
    return row === undefined ? 'it is not JSON' : `${path}: expected ${expected}`;
  }
  return seen.has(checked.value.id) ? `id is repeated: ${checked.value.id}` : findLineFault(checked.value);
}

/** @throws ValidationError naming the first invalid line, and a file without a header; StorageError for a file that cannot be read. */
export function readConceptFile(path: string): ConceptFile {
  const filled = Array.from(readLines(path)).filter(({ text }) => text.trim() !== '');
  const rows = filled.map(({ number, text }) => ({ number, row: parseLine(text) }));
  const found = check(header, rows[0]?.row);
  if ('faults' in found)
    throw new ValidationError(
      `file does not begin with the header of a file of concepts: ${path}; write it with ragpp graph extract`,
      { path },
    );
  const seen = new Set<string>();
  const lines = rows.slice(1).map(({ number, row }) => {
    const fault = describeLineFault(row, seen);
    if (fault !== null)
      throw new ValidationError(
        `line of a file of concepts is malformed: ${path}:${number}: ${fault}; continue with ragpp graph extract, which removes an unfinished last line`,
        { path, line: number },
      );
    const read = row as ConceptLine;
    seen.add(read.id);
    return read;
  });
  return { header: found.value, lines };
}

const formatLines = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** A file of concepts without a turn. */
export function formatConceptHeader(given: ConceptFileHeader): string {
  return formatLines([given]);
}

/** Appends turns; they are on the disk when it returns. @throws StorageError. */
export function appendConceptLines(path: string, lines: readonly ConceptLine[]): void {
  try {
    const file = openSync(path, 'a');
    try {
      writeFully(file, Buffer.from(formatLines(lines)));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new StorageError('write', path, { cause: error });
  }
}

/** The ids of turns that stay on this machine: those that are sensitive, and those with the text of one that is. */
export function listWithheldTurns(turns: readonly Turn[]): ReadonlySet<string> {
  const sensitive = new Set(turns.filter(isSensitive).map(({ text }) => text));
  return new Set(turns.filter(({ text }) => sensitive.has(text)).map(({ id }) => id));
}

/** The concepts of turns, and the ends of their triples. */
export interface FileConcepts {
  /** [turns] */
  readonly concepts: readonly (readonly string[])[];
  /** [turns] subject and object of each triple, one after the other. */
  readonly relations: readonly (readonly string[])[];
  /** The remarks on the file; null for nothing. */
  readonly remark: string | null;
}

function assertUnchanged({ file, hash }: ConceptFileSource): void {
  if (hash !== undefined && hashFileContent(file) !== hash)
    throw new ValidationError(`file of concepts has changed since the config was read: ${file}; run the config again`, {
      file,
    });
}

/**
 * The concepts of turns that a file states, for turns that come one after the other. A turn that extraction withholds
 * and the file lacks has its noun phrases.
 */
export class ConceptFileReader {
  readonly #source: ConceptFileSource;
  /** See {@link ConceptFileHeader}. */
  readonly #corpus: string;
  readonly #lineOf: ReadonlyMap<string, ConceptLine>;
  /** The texts of sensitive turns among the first ones. */
  readonly #sensitive = new Set<string>();
  #seen = 0;

  /**
   * @throws ValidationError for another content than the source states, and for a file that is none of concepts;
   *   StorageError for a file that cannot be read.
   */
  constructor(source: ConceptFileSource) {
    assertUnchanged(source);
    const { header, lines } = readConceptFile(source.file);
    this.#source = source;
    this.#corpus = header.corpus;
    this.#lineOf = new Map(lines.map((line) => [line.id, line]));
  }

  /**
   * The concepts of the turns from a turn on, with a remark where that is the first.
   *
   * @param turns those of the last call, and later ones.
   * @throws ValidationError for turns without a line, and as the constructor.
   */
  read(turns: readonly Turn[], first = 0): FileConcepts {
    const { file } = this.#source;
    assertUnchanged(this.#source);
    for (const turn of turns.slice(this.#seen)) if (isSensitive(turn)) this.#sensitive.add(turn.text);
    this.#seen = turns.length;
    const lineOf = this.#lineOf;
    const later = turns.slice(first);
    const missing = later.filter(({ id, text }) => !lineOf.has(id) && !this.#sensitive.has(text)).map(({ id }) => id);
    if (missing.length > 0)
      throw new ValidationError(
        `${missing.length} of ${turns.length} turns have no concepts in ${file}, the first is ${missing[0]}; continue with ragpp graph extract`,
        { file, missing },
      );
    const isOther = first === 0 && hashTurnTexts(turns) !== this.#corpus;
    return {
      concepts: later.map(
        (turn) => lineOf.get(turn.id)?.concepts ?? listConcepts(turn.text, readTitle(turn), 'phrases'),
      ),
      relations: later.map(
        ({ id }) => lineOf.get(id)?.triples.flatMap(({ subject, object }) => [subject, object]) ?? [],
      ),
      remark: isOther ? `warning: ${file} was extracted from other turns or texts than these` : null,
    };
  }
}

/** The concepts of turns that a file states. @throws as {@link ConceptFileReader}. */
export function readFileConcepts(turns: readonly Turn[], source: ConceptFileSource): FileConcepts {
  return new ConceptFileReader(source).read(turns);
}
