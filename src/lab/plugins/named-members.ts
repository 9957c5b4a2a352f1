import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { listStepNames } from '../../rank/retrieval/written-steps.ts';
import { isPlain, type Plain } from '../composition/config-file.ts';
import { INSTALLED, type PluginKind, type ResolvedPlugin } from './resolved-plugin.ts';

/** A member where a config names it. */
export interface NamedMember {
  readonly path: string;
  readonly kind: PluginKind;
  readonly name: unknown;
}

const toPlain = (value: unknown) => (isPlain(value) ? value : {});
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The plugin signals and the encoders of a bank of signals. */
function listBankNames(bank: unknown, at: string): NamedMember[] {
  const { plugins, encoders } = toPlain(bank);
  return [
    ...Object.keys(toPlain(plugins)).map(
      (name): NamedMember => ({ path: `${at}.plugins.${name}`, kind: 'signals', name }),
    ),
    ...toList(encoders).map(
      (encoder, i): NamedMember => ({ path: `${at}.encoders[${i}]`, kind: 'encoders', name: toPlain(encoder).encoder }),
    ),
  ];
}

/** The metric of a fit, and the other data that its weights are tried on. */
function listFitNames(fit: unknown, at: string): NamedMember[] {
  const { metric, transfer } = toPlain(fit);
  return [
    ...(typeof metric === 'string' ? listMetricNames([metric], () => `${at}.metric`) : []),
    ...toList(transfer).map(
      (other, i): NamedMember => ({
        path: `${at}.transfer[${i}].dataset.name`,
        kind: 'datasets',
        name: toPlain(toPlain(other).dataset).name,
      }),
    ),
  ];
}

/** The members that the steps of an arm name. */
function listStepMembers(arm: Plain, at: string): NamedMember[] {
  const { search, fuse, mix, as } = arm;
  const sources = Object.entries(toPlain(search)).map(
    ([name, source]): NamedMember => ({ path: `${at}.search.${name}`, kind: 'indexes', name: toPlain(source).index }),
  );
  const steps = toList(arm.steps).map((name): NamedMember => {
    const kind = toPlain(as)[String(name)] ?? name;
    return { path: `${at}.${name}`, kind: 'steps', name: kind };
  });
  const signals = listStepNames('score', as).flatMap((step) =>
    Object.keys(toPlain(arm[step])).map(
      (name): NamedMember => ({ path: `${at}.${step}.${name}`, kind: 'signals', name }),
    ),
  );
  const fusions = Object.keys(toPlain(fuse)).map(
    (name): NamedMember => ({ path: `${at}.fuse.${name}`, kind: 'fusions', name }),
  );
  const bank = listBankNames(toPlain(mix).signals, `${at}.mix.signals`);
  return [...steps, ...sources, ...signals, ...fusions, ...bank, ...listFitNames(toPlain(mix).fit, `${at}.mix.fit`)];
}

function listArmNames(arm: unknown, at: string): NamedMember[] {
  const { embedding } = toPlain(arm);
  return [
    { path: `${at}.embedding.encoder`, kind: 'encoders', name: toPlain(embedding).encoder },
    ...listStepMembers(toPlain(arm), at),
  ];
}

/** The metrics of `evaluation.metrics`, or of another path. */
function listMetricNames(
  metrics: readonly string[],
  locate: (i: number) => string = (i) => `evaluation.metrics[${i}]`,
): NamedMember[] {
  return metrics.map((metric, i) => ({ path: locate(i), kind: 'metrics', name: metric.split('@')[0] }));
}

interface NamingConfig {
  readonly dataset: { readonly name: string };
  readonly embedding: { readonly encoder: string };
  readonly tuning: { readonly metric: string };
  readonly evaluation: { readonly metrics: readonly string[] };
  readonly arms: readonly unknown[];
}

/** Where an experiment names members. */
export function listExperimentMembers({ dataset, embedding, tuning, evaluation, arms }: NamingConfig): NamedMember[] {
  return [
    { path: 'dataset.name', kind: 'datasets', name: dataset.name },
    { path: 'embedding.encoder', kind: 'encoders', name: embedding.encoder },
    ...listMetricNames([tuning.metric], () => 'tuning.metric'),
    ...listMetricNames(evaluation.metrics),
    ...arms.flatMap((arm, i) => listArmNames(arm, `arms[${i}]`)),
  ];
}

/** Members of plugins that this process has installed but that the config does not list: its hash would not cover them. */
export function findUnnamedPlugins(
  named: readonly NamedMember[],
  plugins: readonly ResolvedPlugin[] = [],
): ConfigurationFault[] {
  const own = new Set(plugins.map(({ name }) => name));
  const others = [...INSTALLED.values()].filter(({ name }) => !own.has(name));
  return named.flatMap(({ path, kind, name }) => {
    const owner = others.find(({ members }) => (members[kind] as readonly unknown[]).includes(name));
    if (owner === undefined) return [];
    return [{ path, expected: `plugin ${owner.name} in plugins`, got: JSON.stringify(name) }];
  });
}
