import { check } from '../../../core/validation/validation.ts';
import { ADDED_SIGNALS, type AddedSignal, type Signal } from '../signal.ts';

/** Name of a plugin's signal -> its options. */
export type AddedSignalOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface BankedSignal {
  readonly definition: AddedSignal;
  readonly use: Signal;
}

/** The signals of plugins that a bank holds, by name. Names that no plugin of this process has are faults of the bank's schema. */
export function listAddedSignals(plugins: AddedSignalOptions = {}): ReadonlyMap<string, BankedSignal> {
  return new Map(
    Object.entries(plugins).flatMap(([name, options]) => {
      const definition = ADDED_SIGNALS.find(name);
      return definition === undefined ? [] : [[name, { definition, use: definition.create(options) }] as const];
    }),
  );
}

/** What is wrong with the plugin signals of a bank. @param own names of the bank's own signals. */
export function findAddedFaults(
  plugins: AddedSignalOptions,
  own: readonly string[],
): { readonly path: readonly string[]; readonly expected: string }[] {
  return Object.entries(plugins).flatMap(([name, options]) => {
    const definition = ADDED_SIGNALS.find(name);
    if (definition === undefined)
      return [{ path: [name], expected: `a signal that a plugin of the config defines, unlike ${name}` }];
    if (own.includes(name)) return [{ path: [name], expected: 'a name that no signal of the bank has; rename it' }];
    const result = check(definition.options, options);
    return ('faults' in result ? result.faults : []).map(({ path, expected }) => ({ path: [name, path], expected }));
  });
}
