import type { Pseudonyms } from '../mail/pseudonyms.ts';

/** A reference of Slack: `<@U1>`, `<#C1|general>`, `<!here>`, `<https://x.example|a page>`. */
const REFERENCE = /<([^<>|]*)(?:\|([^<>]*))?>/g;
const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

function decodeEntities(text: string): string {
  return text.replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity] as string);
}

/** The text as its reader sees it, with people and addresses replaced. @param userIds of people that the workspace knows. */
export function readSlackText(text: string, pseudonyms: Pseudonyms, userIds: ReadonlySet<string>): string {
  const readReference = (whole: string, target: string, label: string | undefined): string => {
    const id = target.slice(1);
    if (target.startsWith('@')) return userIds.has(id) ? pseudonyms.registerAuthor('', id) : 'somebody';
    if (target.startsWith('#')) return `#${label ?? id}`;
    if (target.startsWith('!')) return label ?? `@${id.split('^')[0]}`;
    return /^\w+:/.test(target) ? (label ?? target.replace(/^mailto:/, '')) : whole;
  };
  return pseudonyms.hide(decodeEntities(text.replace(REFERENCE, readReference))).trim();
}
