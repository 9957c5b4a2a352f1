import type { createRandom } from '../../core/numbers/random.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import { computeFingerprint, sortIds } from './fingerprint.ts';
import type { SliceExport } from './slice-export.ts';

type Random = ReturnType<typeof createRandom>;
type Json = Record<string, unknown>;

const pick = <T>(random: Random, list: readonly T[]): T => list[random.integer(list.length)] as T;

/** A value that is close to another, of the same type or not. */
function change(random: Random, value: unknown): unknown {
  const kinds = [null, 0, '', [], {}, true];
  if (random.uniform() < 0.15) return pick(random, kinds);
  if (typeof value === 'number') return value + pick(random, [1, -1, 0.5, 1000, -1e12, 3_600_000]);
  if (typeof value !== 'string') return pick(random, ['t0001', 'a1', 'c1', 'k1', 'f'.repeat(64)]);
  const at = random.integer(value.length + 1);
  const letter = pick(random, ['0', '1', 'a', 'F', ' ', '\u200b', '\ud800', 'é', '"']);
  return value.slice(0, at) + letter + value.slice(at + random.integer(2));
}

/** One field, of the scope too, is changed, removed or added. */
function forgeField(random: Random, slice: SliceExport): unknown {
  const forged = structuredClone(slice) as unknown as Json;
  const target = random.uniform() < 0.2 ? (forged.scope as Json) : forged;
  const key = random.uniform() < 0.05 ? 'extra' : pick(random, Object.keys(target));
  if (random.uniform() < 0.1) delete target[key];
  else target[key] = change(random, target[key]);
  return forged;
}

/** The ids are others; mostly they are in order, and the fingerprint is theirs. */
function forgeIds(random: Random, slice: SliceExport, _: SliceExport, ids: readonly string[]): unknown {
  const drawn = [...slice.turnIds];
  const at = random.integer(drawn.length);
  const added = random.uniform() < 0.8 ? pick(random, ids) : String(change(random, drawn[at]));
  drawn.splice(at, random.integer(2), ...(random.uniform() < 0.7 ? [added] : []));
  if (random.uniform() < 0.1) drawn.reverse();
  const turnIds = random.uniform() < 0.8 ? [...new Set(drawn)].sort(compareBytes) : drawn;
  const honest = random.uniform() < 0.8 && turnIds.every((id) => !/\p{Cs}/u.test(id));
  return { ...slice, turnIds, ...(honest && { fingerprint: computeFingerprint(turnIds) }) };
}

/** Some fields are of another valid slice. */
function splice(random: Random, slice: SliceExport, other: SliceExport): unknown {
  const share = random.uniform();
  const entries = Object.entries(slice).map(([key, value]) => [
    key,
    random.uniform() < share ? other[key as keyof SliceExport] : value,
  ]);
  const mixed = Object.fromEntries(entries) as SliceExport;
  if (random.uniform() < 0.5) return mixed;
  const turnIds = sortIds([...new Set([...slice.turnIds, ...other.turnIds])]);
  return { ...mixed, turnIds, fingerprint: computeFingerprint(turnIds) };
}

/** Characters of the JSON text are changed; what is no JSON remains a text. */
function forgeText(random: Random, slice: SliceExport): unknown {
  const text = JSON.stringify(slice);
  const at = random.integer(text.length);
  const letter = pick(random, ['0', '9', 'a', '"', ',', ']', '}', ':', '\\', ' ']);
  return parseOrKeep(text.slice(0, at) + letter + text.slice(at + random.integer(3)));
}

/** The text ends early; what is open is closed, so that it is JSON again. */
function truncate(random: Random, slice: SliceExport): unknown {
  const cut = JSON.stringify(slice).slice(0, random.integer(JSON.stringify(slice).length));
  const closed = ['', '}', '"}', ']}', '"]}', '0}'].map((end) => parseOrKeep(cut + end));
  return closed.find((value) => typeof value === 'object') ?? cut;
}

function parseOrKeep(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Ways to forge a slice: from a valid slice, another valid slice, and the ids of the corpus. */
export const FORGERIES = { forgeField, forgeIds, splice, forgeText, truncate } satisfies Record<
  string,
  (random: Random, slice: SliceExport, other: SliceExport, ids: readonly string[]) => unknown
>;
