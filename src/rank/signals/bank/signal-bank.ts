import { defineStage, type Signal, type StageUse } from '../signal.ts';
import {
  bankSignals,
  COLUMN_GROUPS,
  createColumnSignals,
  listAddedSignals,
  type SignalBankOptions,
  type SignalGroup,
} from './options.ts';
import { listStructureInputs } from './sessions.ts';
import type { SignalTable } from './table-filler.ts';

export type { SignalTable };

/** The signals of some groups that are columns already, by name. */
function listColumnSignals(groups: readonly SignalGroup[]): Readonly<Record<string, Signal>> {
  const asked = COLUMN_GROUPS.filter((group) => groups.includes(group));
  return Object.assign({}, ...asked.map(createColumnSignals));
}

/** Every signal of a bank for every candidate of a pool, as of each query's moment. */
export const signalTable = defineStage<SignalBankOptions, SignalTable, Readonly<Record<string, StageUse<unknown>>>>({
  name: 'signals',
  module: import.meta.url,
  of: 'pairs',
  reads: (options) => [...new Set(bankSignals(options).flatMap(({ reads }) => reads))],
  key: ({ groups, encoders, plugins }, setting) => [
    groups,
    encoders.map((encoder) => setting.encoderIdentity(encoder)),
    ...(plugins === undefined ? [] : [Object.keys(plugins)]),
  ],
  inputs: ({ groups, plugins }, setting) => ({
    ...(groups.includes('structure') ? listStructureInputs(setting) : {}),
    ...listColumnSignals(groups),
    ...Object.fromEntries(Array.from(listAddedSignals(plugins), ([name, { use }]) => [name, use])),
  }),
  compute: async (work, options) => {
    const { fillSignalTable } = await import('./table-filler.ts');
    return fillSignalTable(work, options, Object.keys(listColumnSignals(options.groups)));
  },
});
