/** The limits of a config. docs/config.md lists them, and every error of a limit states it. */
export const CONFIG_LIMITS = Object.freeze({
  /** Bytes of one file. */
  fileBytes: 64 * 2 ** 20,
  /** Syntax faults of one file that are listed. */
  syntaxFaults: 20,
  /** Aliases in one file: to resolve one costs time in proportion to all of them. */
  aliases: 5000,
  /** Values that aliases repeat, counted as often as they are repeated. */
  repeatedValues: 100_000,
  /** Levels of mappings and lists within each other. */
  depth: 100,
  /** Files that extend each other in a row. */
  chain: 100,
  /** Files laid over each other; one counts each time that it is extended. */
  layers: 1000,
  /** Parts of a path of `--set`. */
  pathParts: 100,
  /** Characters of the name of an experiment, from which the name of its folder is made. */
  nameCharacters: 100,
  /** Characters of the name of an arm. */
  armNameCharacters: 1000,
  /** Arms in all: those that are written, those of a sweep, null controls and repetitions. */
  arms: 10_000,
  /** Seeds that each arm is run with. */
  seeds: 100,
  /** Arms that extend each other in a row. */
  armChain: 100,
  /** Points of all tuning grids together. */
  tunePoints: 10_000,
});
