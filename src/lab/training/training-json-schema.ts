import { z } from 'zod';
import { extendsOptions } from '../composition/config-composition.ts';
import type { Plain } from '../composition/config-file.ts';
import { groupOptions } from '../composition/config-groups.ts';
import { convertToJsonSchema } from '../config/config-json-schema.ts';
import { type Key, listKeysWithin, type Schema } from '../config/config-keys.ts';
import { describeKeys } from '../config/key-descriptions.ts';
import { trainingConfig } from './training-config.ts';

const { crossValidation } = trainingConfig.shape;

/** A training config as written: with the file of folds, which a resolved config has as `outer`. */
const writtenTraining = trainingConfig.extend({
  crossValidation: crossValidation
    .unwrap()
    .extend({ folds: z.string().nullable().default(null) })
    .prefault({}),
});

/** Every key that a training config may have, without those that name other files. */
export function listTrainingKeys(): Key[] {
  return listKeysWithin(z.toJSONSchema(writtenTraining, { io: 'input' }) as Schema, '');
}

/** The JSON Schema of a training config, as `buildConfigJsonSchema` makes that of an experiment. */
export function buildTrainingJsonSchema(): Plain {
  const file = writtenTraining.extend({ extends: extendsOptions.optional(), groups: groupOptions.optional() });
  const { $schema, ...schema } = convertToJsonSchema(file);
  const described = { $schema, title: 'A rag-plusplus training', ...schema };
  describeKeys(described, ['training.md', 'config.md']);
  return described;
}
