import type { ApiExport, ApiModule } from './declarations.ts';

const PAGE = 'reference/api';

/** Names in docstrings are code; the rest of the Markdown stays. */
const cleanText = (text: string) => text.replace(/\{@link\s+([^}]+)\}/g, '`$1`').replace(/</g, '&lt;');

function describeTags({ tags }: ApiExport): string[] {
  return tags
    .filter(({ text }) => text !== '')
    .map(({ tag, text }) => `* ${tag === 'param' ? 'takes' : tag} ${cleanText(text)}`);
}

function describeExport(one: ApiExport): string {
  return [
    `### ${one.name}`,
    cleanText(one.summary),
    describeTags(one).join('\n'),
    `\`\`\`ts\n${one.declaration}\n\`\`\``,
    one.file === null ? '' : `From \`${one.file}\`.`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const GROUPS: readonly { title: string; kinds: readonly ApiExport['kind'][] }[] = [
  { title: 'Functions', kinds: ['function'] },
  { title: 'Classes', kinds: ['class'] },
  { title: 'Constants', kinds: ['constant', 'namespace'] },
  { title: 'Types', kinds: ['interface', 'type'] },
];

function writeModulePage({ specifier, summary, exports }: ApiModule): string {
  const groups = GROUPS.flatMap(({ title, kinds }) => {
    const members = exports.filter(({ kind }) => kinds.includes(kind));
    return members.length === 0 ? [] : [`## ${title}`, ...members.map(describeExport)];
  });
  const line = `\`\`\`ts\nimport { … } from '${specifier}';\n\`\`\``;
  return `${[`# ${specifier}`, cleanText(summary), line, ...groups].join('\n\n')}\n`;
}

const toFile = (specifier: string) => `${PAGE}/${specifier.replace('/', '-')}.md`;

/** The reference of the public interface: a page of contents, and one for each module. */
export function writeApiPages(modules: readonly ApiModule[]): { file: string; markdown: string }[] {
  if (modules.length === 0) return [];
  const rows = modules.map(({ specifier, summary, exports }) => {
    const first = cleanText(summary)
      .split(/(?<=\.)\s/)[0]
      ?.replaceAll('\n', ' ');
    return `| [${specifier}](${toFile(specifier).slice('reference/'.length)}) | ${exports.length} | ${first} |`;
  });
  const contents = `# Reference of the code

What \`rag-plusplus\` exports, from the declarations and docstrings of the source. One import serves common work; everything is
in the module of its room.

| module | names | holds |
| --- | --- | --- |
${rows.join('\n')}
`;
  return [
    { file: `${PAGE}.md`, markdown: contents },
    ...modules.map((module) => ({ file: toFile(module.specifier), markdown: writeModulePage(module) })),
  ];
}
