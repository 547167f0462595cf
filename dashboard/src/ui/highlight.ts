/** The colours of HTML, with the CSS and JavaScript in it. It is large, so pages load it when they need it. */
import { html } from '@codemirror/lang-html';
import { highlightCode, tagHighlighter, tags } from '@lezer/highlight';

export const COLOURS = [
  { tag: [tags.tagName, tags.keyword], color: 'var(--accent)' },
  { tag: [tags.attributeName, tags.propertyName], color: 'var(--warning)' },
  { tag: [tags.attributeValue, tags.string, tags.number, tags.color], color: 'var(--ok)' },
  { tag: [tags.comment, tags.angleBracket, tags.documentMeta], color: 'var(--text-muted)' },
];

/** A colour takes the place of the class that such highlighters give. */
const highlighter = tagHighlighter(COLOURS.map(({ tag, color }) => ({ tag, class: color })));

export interface ColouredPart {
  readonly text: string;
  readonly color: string | undefined;
}

/** The parts of a document, each with its colour. */
export function partsOf(code: string): readonly ColouredPart[] {
  const parts: ColouredPart[] = [];
  const put = (text: string, color: string) => parts.push({ text, color: color || undefined });
  highlightCode(code, html().language.parser.parse(code), highlighter, put, () => put('\n', ''));
  return parts;
}
