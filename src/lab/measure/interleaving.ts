import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import {
  type BootstrapOptions,
  type Estimate,
  groupIntoClusters,
  meanIntervals,
} from '../../eval/intervals/mean-intervals.ts';

/** A system of two that are compared. */
export type Team = 'a' | 'b';

/** A ranking that two systems made together. */
export interface InterleavedRanking {
  /** Best first, each id once. */
  readonly ids: readonly string[];
  /** Which system chose each place. */
  readonly teams: readonly Team[];
}

/**
 * Team-draft interleaving: in every round each system adds its best id that is not there yet, in an order that is drawn for the round. Source:
 * radlinski2008clickthrough.
 *
 * @param key of the query: the same seed and key give the same draws.
 * @param depth the most ids.
 */
export function interleaveByTeamDraft(
  a: readonly string[],
  b: readonly string[],
  { depth, seed, key }: { readonly depth: number; readonly seed: number; readonly key: string },
): InterleavedRanking {
  if (!Number.isInteger(depth) || depth < 1)
    throw new ValidationError(`depth is not a positive integer: ${depth}; pass a whole number from 1`, { depth });
  const random = createRandom(seed, `team-draft ${key}`);
  const rankings = { a: [...new Set(a)], b: [...new Set(b)] };
  const offsets = { a: 0, b: 0 };
  const teams = new Map<string, Team>();
  const choose = (team: Team): void => {
    const ranking = rankings[team];
    while (offsets[team] < ranking.length && teams.has(ranking[offsets[team]] as string)) offsets[team]++;
    const next = ranking[offsets[team]];
    if (next !== undefined && teams.size < depth) teams.set(next, team);
  };
  for (let before = -1; teams.size < depth && teams.size > before; ) {
    before = teams.size;
    const order: readonly Team[] = random.uniform() < 0.5 ? ['a', 'b'] : ['b', 'a'];
    for (const team of order) choose(team);
  }
  return { ids: [...teams.keys()], teams: [...teams.values()] };
}

/** What happened to an interleaved ranking. */
export interface InterleavedOutcome extends InterleavedRanking {
  readonly cluster: string;
  /** The ids that were of use. */
  readonly used: ReadonlySet<string>;
}

/** How two systems compare in interleaved rankings. */
export interface InterleavingResult {
  /** The mean over rankings of 1 where more of `a` was of use, -1 where more of `b` was, 0 otherwise; above 0 `a` is better. */
  readonly preference: Estimate;
  readonly wins: Readonly<Record<Team, number>>;
  readonly ties: number;
}

/** Credits each used id to the system that chose it. @throws ValidationError without an outcome. */
export function compareByInterleaving(
  outcomes: readonly InterleavedOutcome[],
  options: BootstrapOptions,
): InterleavingResult {
  const signs = outcomes.map(({ ids, teams, used }) => {
    const count = (team: Team) => ids.filter((id, i) => teams[i] === team && used.has(id)).length;
    return Math.sign(count('a') - count('b'));
  });
  const clusters = groupIntoClusters(outcomes.map(({ cluster }) => cluster));
  const [preference] = meanIntervals([signs], clusters, options) as [Estimate];
  const count = (sign: number) => signs.filter((value) => value === sign).length;
  return { preference, wins: { a: count(1), b: count(-1) }, ties: count(0) };
}
