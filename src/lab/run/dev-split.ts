import { ValidationError } from '../../core/errors/errors.ts';
import type { Dataset, Query } from '../../model/dataset.ts';

/** The dev conversations in two parts, so that tuning resembles the evaluation: on conversations later than all fitted ones. */
export interface DevSplit {
  /** Learned parts are fitted on these while arms are tuned. */
  readonly fit: ReadonlySet<string>;
  /** Queries of the other, later ones. */
  readonly tuning: readonly Query[];
}

/** The conversation of a query, if known, else its unit of resampling. */
function findQueryConversation({ corpus }: Dataset, { conversationId, turnId, anchorTurnId, cluster }: Query): string {
  const known = turnId ?? anchorTurnId;
  if (conversationId !== undefined) return conversationId;
  return known === null ? cluster : corpus.getTurn(known).conversationId;
}

/**
 * Holds out the latest dev conversations for tuning. An encoder looks better than it is on the conversations that it was fitted on, and a weight tuned there
 * trusts it too much.
 *
 * @param holdout share of the dev conversations, in (0, 1).
 * @throws ValidationError when no dev query is left to tune on.
 */
export function splitDev(dataset: Dataset, holdout: number): DevSplit {
  const dev = dataset.corpus.conversations.filter(({ id }) => dataset.devConversations.has(id));
  const start = (turns: (typeof dev)[number]['turns']) => turns[0]?.timestamp as number;
  dev.sort((a, b) => start(a.turns) - start(b.turns));
  const fit = new Set(dev.slice(0, Math.round(dev.length * (1 - holdout))).map(({ id }) => id));
  const tuning = dataset.queries.filter(
    (query) => query.split === 'dev' && !fit.has(findQueryConversation(dataset, query)),
  );
  if (tuning.length === 0) {
    throw new ValidationError(
      `the last ${holdout} of ${dev.length} dev conversations of dataset ${dataset.name} have no query to tune on; raise tuning.holdout`,
      { holdout, dev: dev.length },
    );
  }
  return { fit, tuning };
}
