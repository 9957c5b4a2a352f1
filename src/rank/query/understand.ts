import { ValidationError } from '../../core/errors/errors.ts';
import { shortenToExcerpt } from '../../core/validation/validation.ts';
import { readQuestionText } from '../../model/text/question-text.ts';
import { type QueryMoment, type QueryTimeRange, readTimes } from '../../model/text/times/question-times.ts';
import { classifyQuery, type QueryType } from './classify-query.ts';
import { EntityRegistry } from './entity-registry.ts';
import { type EntityResolution, resolveEntities } from './resolve-entities.ts';
import { type Strategy, selectStrategy } from './strategy.ts';

/** When and where a question is asked, and what it may name. */
export interface UnderstandOptions extends QueryMoment {
  /** Without a registry every name is unresolved. */
  readonly entities?: EntityRegistry | undefined;
}

/** What a question asks for. */
export interface QueryUnderstanding extends QueryType, EntityResolution {
  /** The cue that decided the category. */
  readonly categoryRule: string;
  /** Null for a question that names no time. */
  readonly timeRange: QueryTimeRange | null;
  readonly strategy: Strategy;
}

/**
 * Understands a question: its category and flags, the entities that it names, the time that it is about, and the strategy that follows. Rules and tables decide, no
 * language model. The rules are English: a question in another language is factual, with no time and the entities that the registry names. Of a question of more than
 * 4,000 characters the first and the last 2,000 are read.
 *
 * @throws ValidationError for an empty question, a timestamp that is no time, an unknown time zone, and entities that are no registry.
 */
export async function understand(
  question: string,
  { timestamp, timeZone, entities }: UnderstandOptions,
): Promise<QueryUnderstanding> {
  if (entities !== undefined && !(entities instanceof EntityRegistry))
    throw new ValidationError(
      `unknown entity registry: ${shortenToExcerpt(entities)}; pass one of createEntityRegistry, or none`,
      { entities },
    );
  const text = readQuestionText(question);
  const { range: timeRange, mentions } = readTimes(text, { timestamp, timeZone });
  const resolution = await resolveEntities(text, entities ?? null, mentions);
  const { ambiguous, unresolved } = resolution;
  const names = [...[...resolution.entities, ...ambiguous].map(({ mentionText }) => mentionText), ...unresolved];
  const { type, rule } = classifyQuery(text, { names, hasTime: timeRange !== null });
  return { ...type, categoryRule: rule, ...resolution, timeRange, strategy: selectStrategy(type) };
}
