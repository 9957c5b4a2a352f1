import type { ApiModule } from './declarations.ts';

/** The file that holds the report, from the folder of the project. */
export const API_REPORT = 'website/api/report.md';

/** Every exported declaration, each once, with the modules that export it: what a change of the interface changes in the repository. */
export function writeApiReport(modules: readonly ApiModule[]): string {
  const modulesOf = new Map<string, string[]>();
  for (const { specifier, exports } of modules)
    for (const { declaration } of exports)
      modulesOf.set(declaration, [...(modulesOf.get(declaration) ?? []), specifier]);
  const sections = modules.map(({ specifier, exports }) => {
    const declarations = exports.map(({ name, declaration }) => {
      const home = modulesOf.get(declaration)?.find((one) => one !== modules[0]?.specifier) ?? specifier;
      return home === specifier ? declaration : `// ${name}: see ${home}`;
    });
    return `## ${specifier}\n\n\`\`\`ts\n${declarations.join('\n')}\n\`\`\``;
  });
  return `# Public interface\n\nWritten by \`npm run docs -- --api\`; a test compares it with the code.\n\n${sections.join('\n\n')}\n`;
}
