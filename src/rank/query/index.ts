/** What a question asks for: category and flags, entities, time range, and the strategy that follows. */

export {
  EARLIEST_TIME,
  findTimeRange,
  LATEST_TIME,
  type QueryMoment,
  type QueryTimeRange,
} from '../../model/text/times/question-times.ts';
export type { QueryType } from './classify-query.ts';
export {
  createEntityRegistry,
  type EntityEntry,
  type EntityMatch,
  type EntityOptions,
  type EntityRegistry,
} from './entity-registry.ts';
export {
  type ExpansionInput,
  expandEntities,
  type FindRelated,
  type Ontology,
  type OntologyInput,
  type OntologyRelation,
  readOntology,
} from './ontology.ts';
export type { QueryCategory } from './question-cues.ts';
export type { AmbiguousMention, EntityResolution } from './resolve-entities.ts';
export type { ResolvedEntity } from './similar-names.ts';
export {
  STRATEGY_WEIGHTS,
  type Strategy,
  type StrategyName,
  selectStrategy,
} from './strategy.ts';
export { type QueryUnderstanding, type UnderstandOptions, understand } from './understand.ts';
