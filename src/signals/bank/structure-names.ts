/** The scores by coordinates and by ring attention, with the weights that were set by hand. */
export const STRUCTURE_SIGNALS = [
  'trajectory-3',
  'trajectory-5',
  'trajectory-7',
  'rcp',
  'ircp',
  'tpo',
  'rcp-additive',
] as const;
