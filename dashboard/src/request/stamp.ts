/** What a stamp shows, and the HTML of one that shows a text. */
import { t } from '../words/words.ts';

/** A stamp shows one of these. */
export const STAMP_KINDS = [
  { value: 'text', label: t('A text') },
  { value: 'image', label: t('A picture') },
  { value: 'html', label: 'HTML' },
] as const;

export type StampKind = (typeof STAMP_KINDS)[number]['value'];

/** What its form asks for: as a person chose, or as it was sent. */
export function stampKind(values: Readonly<Record<string, unknown>>): StampKind {
  const { what, text, html, image } = values;
  const other = html !== undefined && text === undefined ? 'html' : 'text';
  const sent = image === undefined ? other : 'image';
  return STAMP_KINDS.find(({ value }) => value === what)?.value ?? sent;
}

/** An object that has these fields is a stamp. */
export const STAMP_FIELDS: readonly string[] = ['html', 'image', 'opacity'];

/** Where a text is stamped, its usual opacity there, and the styles of its box and of the text itself. */
export const PLACES = {
  across: {
    label: t('Across the page'),
    opacity: 0.3,
    box: 'align-items: center; justify-content: center',
    text: 'color: red; rotate: -45deg; white-space: nowrap',
  },
  top: {
    label: t('Small, at the top'),
    opacity: 1,
    box: 'align-items: start; justify-content: center; padding: 8mm',
    text: 'font-size: 11pt',
  },
  bottom: {
    label: t('Small, at the bottom'),
    opacity: 1,
    box: 'align-items: end; justify-content: center; padding: 8mm',
    text: 'font-size: 11pt',
  },
} as const;

export type Place = keyof typeof PLACES;
export const PLACE_CHOICES = (Object.keys(PLACES) as Place[]).map((value) => ({
  value,
  label: PLACES[value].label,
}));

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
]);

/** The share of the page's width that a text across it has, and the width of a letter, in parts of its height. */
const ACROSS_PERCENT = 110;
const LETTER = 0.6;
const LARGEST_PERCENT = 24;

/** The HTML of a stamp that shows a text, if there is any. */
export function stampHtml(text: string, place: Place): string | undefined {
  if (text === '') return undefined;
  const { box, text: style } = PLACES[place];
  const escaped = text.replace(/[&<]/g, (sign) => ENTITIES.get(sign) ?? sign);
  const letters = Array.from(text).length;
  const size = Math.min(LARGEST_PERCENT, ACROSS_PERCENT / LETTER / letters).toFixed(1);
  const sized = place === 'across' ? `font-size: ${size}vw; ${style}` : style;
  return `<div style="position: fixed; inset: 0; display: flex; ${box}"><p style="margin: 0; font-family: sans-serif; ${sized}">${escaped}</p></div>`;
}
