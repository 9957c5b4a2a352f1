import { z } from 'zod';
import { CONTROL_KINDS } from '../../signals/worlds/control-options.ts';

/** Which null controls a config asks for. */
export const controlsOptions = z.union([z.boolean(), z.array(z.enum(CONTROL_KINDS)).min(1)]);
export type ControlsOptions = z.output<typeof controlsOptions>;
