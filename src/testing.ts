/** Contracts that a plugin of your own is tried on, in a test of your own. */

export { assertSignalContract } from './lab/workbench/signal-contract.ts';
