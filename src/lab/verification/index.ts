/** Golden cases from independent programs, and the project's results for them. */

export { type Deviation, measureDeviation } from './compare.ts';
export {
  type GoldenCase,
  type GoldenFile,
  HOST,
  type Part,
  PRINTED,
  TENSOR,
  type Tolerance,
  type Topic,
} from './topic.ts';
export { OWN_GOLDEN, readGolden, TOPICS, type TopicReport, verify } from './verify.ts';
