import type { RetrievalEvent } from '../../memory/context/feedback/retrieval-event.ts';
import type { LoggedChoice } from './counterfactual.ts';
import type { InterleavedOutcome } from './interleaving.ts';

/** What another system would have chosen, and what counts as success. */
export interface ChoiceReading {
  /** The probability with which the other system makes the choice of the event. */
  readonly target: (event: RetrievalEvent) => number;
  /** How well the event went; default: 1 if anything was of use, else 0. */
  readonly reward?: (event: RetrievalEvent & { readonly used: readonly string[] }) => number;
  /** What a model expects, for the doubly robust estimate. */
  readonly expected?: (event: RetrievalEvent) => NonNullable<LoggedChoice['expected']>;
}

type KnownEvent = RetrievalEvent & { readonly used: readonly string[] };
const hasKnownUse = (event: RetrievalEvent): event is KnownEvent => event.used !== null;
/** Events of one session are not independent; without one, those of one question are not. */
const chooseCluster = ({ session, query }: RetrievalEvent) => session ?? query;
const wasOfUse = ({ used }: KnownEvent) => (used.length > 0 ? 1 : 0);

/** The choices of a log of retrievals, as `estimateFromLog` takes them; events whose use is not known are left out. */
export function listLoggedChoices(events: readonly RetrievalEvent[], reading: ChoiceReading): LoggedChoice[] {
  const { target, reward = wasOfUse, expected } = reading;
  return events.filter(hasKnownUse).map((event) => ({
    cluster: chooseCluster(event),
    propensity: event.propensity,
    target: target(event),
    reward: reward(event),
    ...(expected === undefined ? {} : { expected: expected(event) }),
  }));
}

/** The interleaved rankings of a log of retrievals, as `compareByInterleaving` takes them; events without teams or whose use is not known are left out. */
export function listInterleavedOutcomes(events: readonly RetrievalEvent[]): InterleavedOutcome[] {
  return events.filter(hasKnownUse).flatMap((event) => {
    const { retrieved: ids, teams, used } = event;
    return teams === null ? [] : [{ ids, teams, used: new Set(used), cluster: chooseCluster(event) }];
  });
}
