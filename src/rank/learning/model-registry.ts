import { ValidationError } from '../../core/errors/errors.ts';
import { Registry } from '../../core/validation/registry.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import { linear } from './linear-model.ts';
import type { ModelDefinition, ScoringModel } from './model.ts';
import { trajectory } from './trajectory-model.ts';

/** Every model: to add one takes its file and a line here. */
export const MODELS = new Registry<string, ModelDefinition>([linear, trajectory], ({ name }) => name);

/**
 * @param source the name of the source in errors
 * @throws ValidationError for an unknown model, ConfigurationError for a config that is not its own.
 */
export function restoreModel(
  name: string,
  config: unknown,
  constants: ScoringModel['constants'],
  source: string,
): ScoringModel {
  const model = MODELS.find(name);
  if (model !== undefined) return model.restore(config, constants, source);
  const known = MODELS.names;
  const hint = suggestKnown(name, known);
  throw new ValidationError(`unknown model in ${source}: ${name}; use ${hint}`, { name, known });
}
