import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { check, parse } from '../../core/validation/validation.ts';
import { once } from '../../core/values/once.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { AdmissibilityError } from '../signatures/admissibility-error.ts';
import { computeKeyId, publicKeySchema } from '../signatures/kernel-keys.ts';
import { readPublicKey } from '../signatures/public-key.ts';
import { isSignedBy } from '../signatures/signature.ts';
import { type SliceExport, sliceExportSchema } from '../signatures/slice-export.ts';
import { TurnLists } from '../slices/anchors.ts';
import { assertFingerprint, assertValidAt } from '../slices/slice-checks.ts';
import { type AskedSlice, assertAsked, type VerifiedSlice } from './asked-slice.ts';

/**
 * Letters of Cyrillic and Greek, and marks, that look like characters of ASCII: each, and that character. Source:
 * Unicode TR39, confusables.txt.
 */
const LOOKALIKES = new Map(
  [
    'аaсcԁdеeһhіiјjӏlоoрpԛqѕsԝwхxуyѵv', // Cyrillic
    'АAВBСCЕEНHІIЈJКKМMОOРPЅSТTХXҮYԌG',
    'αaοoρpνvυuιiγyσo', // Greek
    'ΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX',
    'ɑaɡgıi‐-‑-–-—-−-ǃ!ː:‚,⁄/∕/',
  ].flatMap((pairs) => {
    const letters = [...pairs];
    return letters.flatMap((letter, i) => (i % 2 === 0 ? [[letter, letters[i + 1] as string] as const] : []));
  }),
);

/**
 * What an id looks like: compatibility forms and composed letters as one, invisible characters and blanks at its ends
 * left out, and letters of other scripts as those of ASCII. Two ids with one look are twins.
 */
export function foldId(id: string): string {
  const plain = id
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .trim();
  return Array.from(plain, (letter) => LOOKALIKES.get(letter) ?? letter).join('');
}

/** An id with everything but visible ASCII as escapes, so that a message tells twins apart. */
export function escapeId(id: string): string {
  return id.replaceAll(/[^!-~]/gu, (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`);
}

/** What a verifier needs: no secret. */
export interface SliceVerifierOptions {
  /** The Ed25519 keys that are trusted, 32 bytes in hex each; during a rotation the old and the new one. */
  readonly publicKeys: readonly string[];
  /** Keys that were trusted once. A retired key is refused, also if it is among `publicKeys`. */
  readonly retiredKeyIds?: readonly string[];
  /** The turns that the index holds. */
  readonly corpus: Corpus;
  /** A verifier of the corpus when it had fewer turns: where all others are later, only these are read. */
  readonly before?: SliceVerifier;
  /**
   * The versions that the corpus had before it grew, see {@link SliceVerifier.corpusVersion}: their slices are `stale`,
   * those of any other corpus are `corpus`.
   */
  readonly earlierVersions?: readonly string[];
  /**
   * By how much this clock may differ from that of the kernel, in seconds from 0 to 3600; 1 by default. A named moment
   * has none.
   */
  readonly clockToleranceSeconds?: number;
}

/** By how much the clocks of a client and its kernel may differ, unless the client says otherwise. */
const CLOCK_TOLERANCE_SECONDS = 1;

const clockTolerance = z.number().min(0).max(3600);

const AGAIN = 'ask the kernel again';

/** Checks slices offline with pinned public keys. It can neither sign nor forge. */
export class SliceVerifier {
  readonly corpus: Corpus;
  readonly corpusVersion: string;
  /** Where the walks of the corpus start. */
  readonly lists: TurnLists;
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #retired: ReadonlySet<string>;
  readonly #earlier: ReadonlySet<string>;
  /** Milliseconds. */
  readonly #tolerance: number;
  readonly #looks: () => ReadonlyMap<string, string>;

  /**
   * @throws ValidationError without a key, ConfigurationError for one that is no public key and for a tolerance out of
   *   its range.
   */
  constructor({
    publicKeys,
    retiredKeyIds = [],
    corpus,
    before,
    earlierVersions = [],
    clockToleranceSeconds = CLOCK_TOLERANCE_SECONDS,
  }: SliceVerifierOptions) {
    if (publicKeys.length === 0)
      throw new ValidationError('no public key is trusted: 0 given; pass those of the kernel as publicKeys');
    const keys = publicKeys.map((key) => parse(publicKeySchema, key, 'public key of a kernel'));
    this.#keys = new Map(keys.map((key) => [computeKeyId(key), readPublicKey(key)]));
    this.#retired = new Set(retiredKeyIds);
    this.#earlier = new Set(earlierVersions);
    this.#tolerance = 1000 * parse(clockTolerance, clockToleranceSeconds, 'clockToleranceSeconds of a verifier');
    this.corpus = corpus;
    this.lists = new TurnLists(corpus, before?.lists);
    this.corpusVersion = this.lists.corpusVersion;
    this.#looks = once(() => new Map(corpus.turns.map(({ id }) => [foldId(id), id])));
  }

  /**
   * Checks a slice completely; what it returns is all that may be used of it.
   *
   * @param input as it came from the kernel, of any type.
   * @param at the moment of use in milliseconds since 1970.
   * @throws AdmissibilityError with the `reason` of the first check that fails.
   */
  verify(input: unknown, asked: AskedSlice, at: number): VerifiedSlice {
    const slice = readSlice(input);
    const publicKey = this.#findKey(slice.keyId);
    this.#assertCorpus(slice);
    const positions = this.#findPositions(slice);
    // Ids of a corpus have no half surrogate pairs: without these JSON.stringify writes canonical JSON.
    const ids = JSON.stringify(slice.turnIds);
    assertFingerprint(slice, ids);
    const cutoff = assertAsked(slice, asked, positions, this);
    // A named moment is that of the slice itself: no clock is read.
    assertValidAt(slice, at, asked.asOf === null ? this.#tolerance : 0);
    if (!isSignedBy(slice, publicKey, ids))
      throw new AdmissibilityError(
        'signature',
        `slice was altered: key ${slice.keyId} has not signed its content; ${AGAIN}`,
      );
    return Object.freeze({ slice: freeze(slice), positions, cutoff });
  }

  #findKey(keyId: string): KeyObject {
    if (this.#retired.has(keyId))
      throw new AdmissibilityError('key-retired', `key of a slice was retired: ${keyId}; ${AGAIN}`, { keyId });
    const key = this.#keys.get(keyId);
    if (key !== undefined) return key;
    throw new AdmissibilityError(
      'key-untrusted',
      `key of a slice is not trusted: ${keyId}; if the kernel has this key, pin its public key`,
      { keyId },
    );
  }

  #assertCorpus({ corpusVersion }: SliceExport): void {
    if (corpusVersion === this.corpusVersion) return;
    const facts = { corpusVersion, expected: this.corpusVersion };
    if (this.#earlier.has(corpusVersion))
      throw new AdmissibilityError('stale', `slice is of the corpus before it grew: ${corpusVersion}; ${AGAIN}`, facts);
    throw new AdmissibilityError(
      'corpus',
      `slice is of another corpus: ${corpusVersion}, the index holds ${this.corpusVersion}; open both over the same turns`,
      facts,
    );
  }

  /** @returns the positions of the ids, ascending. */
  #findPositions({ turnIds }: SliceExport): Int32Array {
    const positions = new Int32Array(turnIds.length);
    for (let i = 0; i < positions.length; i++) {
      const id = turnIds[i] as string;
      const position = this.corpus.findPosition(id);
      if (position < 0) this.#refuseId(id);
      positions[i] = position;
      if (i > 0 && compareBytes(turnIds[i - 1] as string, id) >= 0)
        throw new AdmissibilityError(
          'order',
          `ids of a slice are not in the order of their bytes, each once: ${id} is number ${i + 1}; ${AGAIN}`,
          { turnId: id },
        );
    }
    return positions.sort();
  }

  #refuseId(id: string): never {
    const twin = this.#looks().get(foldId(id));
    if (twin === undefined)
      throw new AdmissibilityError('unknown-turn', `slice lists an id that no turn has: ${escapeId(id)}; ${AGAIN}`, {
        turnId: id,
      });
    throw new AdmissibilityError(
      'twin',
      `slice lists an id that only looks like that of turn ${escapeId(twin)}: ${escapeId(id)}; ${AGAIN}`,
      { turnId: id, twin },
    );
  }
}

function readSlice(input: unknown): SliceExport {
  const result = check(sliceExportSchema, input);
  if ('value' in result) return result.value;
  const [{ path, expected, got }] = result.faults as [(typeof result.faults)[number]];
  throw new AdmissibilityError(
    'malformed',
    `slice is malformed at ${path}: expected ${expected}, got ${got}; ${AGAIN}`,
    {
      faults: result.faults,
    },
  );
}

function freeze(slice: SliceExport): SliceExport {
  Object.freeze(slice.turnIds);
  Object.freeze(slice.scope);
  return Object.freeze(slice);
}
