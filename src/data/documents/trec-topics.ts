import { ValidationError } from '../../core/errors/errors.ts';
import { isId } from '../jsonl/id-schema.ts';
import type { TopicField } from '../prepared/datasets.ts';
import type { SourceQuestion } from './document-dataset.ts';
import { ElementSplitter, splitAtTags } from './sgml-elements.ts';

/** The tags of the fields; the words before a field's content in the older files. */
const FIELDS: Readonly<Record<'num' | TopicField, { readonly tag: string; readonly label: RegExp }>> = {
  num: { tag: 'NUM', label: /^\s*Number:/i },
  title: { tag: 'TITLE', label: /^\s*Topic:/i },
  description: { tag: 'DESC', label: /^\s*Description:/i },
  narrative: { tag: 'NARR', label: /^\s*Narrative:/i },
};

/**
 * The topics of a file: `<top>` with `<num>`, `<title>`, `<desc>` and `<narr>`, whose ends may be missing. Zeros before a number are left out, as in judgements.
 *
 * @param fields what is asked, in this order.
 * @throws ValidationError for a file without topics, and for a topic without a number or without any of the fields.
 */
export function parseTrecTopics(text: string, fields: readonly TopicField[], where: string): SourceQuestion[] {
  const splitter = new ElementSplitter('top', where);
  const elements = splitter.push(text);
  splitter.finish();
  if (elements.length === 0)
    throw new ValidationError(`no <top> in: ${where}; name a file of topics in the format of TREC`, { where });
  return elements.map((element, i) => parseTopic(element, fields, `topic ${i + 1} of ${where}`));
}

function parseTopic(element: string, fields: readonly TopicField[], where: string): SourceQuestion {
  const parts = splitAtTags(element);
  const readField = (field: keyof typeof FIELDS) => {
    const { tag, label } = FIELDS[field];
    const content = parts.filter((part) => part.tag === tag).map((part) => part.text);
    return content.join(' ').replace(label, '').replace(/\s+/g, ' ').trim();
  };
  const id = readField('num').replace(/^0+(?=\d)/, '');
  if (!isId(id))
    throw new ValidationError(
      `expected <num> with an id without spaces in ${where}, got ${JSON.stringify(id)}; correct the topic`,
      {
        where,
        id,
      },
    );
  const text = fields
    .map(readField)
    .filter((content) => content !== '')
    .join('\n');
  if (text === '')
    throw new ValidationError(
      `${where} has no ${fields.join(', ')}: ${id}; set other topicFields or correct the topic`,
      { where, id },
    );
  return { id, text };
}
