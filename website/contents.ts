import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A part of the navigation. */
export interface Section {
  readonly title: string;
  readonly pages: readonly { readonly title: string; readonly file: string }[];
}

export const CONTENTS = 'docs/README.md';

/** The sections of the contents, in their order. @param root the folder of the project. */
export function readContents(root: string): Section[] {
  const text = readFileSync(join(root, CONTENTS), 'utf8');
  return text
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: (section.split('\n')[0] as string).trim(),
      pages: [...section.matchAll(/^\* \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, title, target]) => ({
        title: title as string,
        file: join('docs', target as string),
      })),
    }));
}
