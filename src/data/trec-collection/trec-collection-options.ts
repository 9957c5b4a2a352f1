import { z } from 'zod';

/** The fields of a topic that can be asked. */
export const TOPIC_FIELDS = ['title', 'description', 'narrative'] as const;
/** A field of a topic that can be asked. */
export type TopicField = (typeof TOPIC_FIELDS)[number];

export const trecCollection = {
  options: z.strictObject({
    name: z.literal('trec-collection'),
    /** The folder with the files. */
    path: z.string().min(1),
    /** Files of documents; the files of a folder are read in the order of their names. */
    documents: z.array(z.string().min(1)).min(1),
    topics: z.string().min(1),
    qrels: z.string().min(1),
    /** What is asked of a topic. */
    topicFields: z.array(z.enum(TOPIC_FIELDS)).min(1).default(['title']),
    relevantGrade: z.int().min(1).default(1),
  }),
  description: 'a test collection in the formats of TREC: a topic must find the documents that are judged relevant',
  licence: 'that of the collection',
  source: 'your own collection; Vaswani: https://github.com/terrier-org/pyterrier, tests/fixtures/vaswani_npl',
};
