import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';

/** The path of a module of the built package, which Node starts without a loader. @param module its path in `src`, without the ending. */
export const findBuiltModule = (module: string): string => join(inject('builtPackage'), 'dist', `${module}.js`);

/** The same as the URL that an import names. */
export const findBuiltUrl = (module: string): string => pathToFileURL(findBuiltModule(module)).href;
