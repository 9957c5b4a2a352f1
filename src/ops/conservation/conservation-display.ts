import { attachDisplay } from '../../core/display/display.ts';
import { buildTableBundle } from '../../core/display/display-table.ts';

/** The metrics that are shown. */
type ShownMetrics = Readonly<
  Record<'count' | 'magnitude' | 'energy' | 'coherence' | 'information' | 'informationBits', number>
>;

/** Lets a notebook show the metrics of a memory as a row of a table. @returns the same object. */
export function displayConservation<T extends ShownMetrics>(metrics: T): T {
  return attachDisplay(metrics, ({ count, magnitude, energy, coherence, information, informationBits }) =>
    buildTableBundle([
      { records: count, magnitude, energy, coherence, 'information (nats)': information, bits: informationBits },
    ]),
  );
}
