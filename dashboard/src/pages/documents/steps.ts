/** The steps of work on documents in words, each with its fields. */
import type { components } from '../../api/schema.d.ts';
import type { Field } from '../../request/schema.ts';
import { optionsOf, textOf, type Values } from '../../request/values.ts';
import { t } from '../../words/words.ts';

/** `merge` is left out: several PDFs are joined anyway. */
export type StepType = Exclude<components['schemas']['DocumentStep']['type'], 'merge'>;

type StepField = { readonly name: string; readonly label?: string; readonly description?: string };

interface Step {
  /** What it does, as a button that adds it. */
  readonly title: string;
  readonly note?: string;
  readonly fields: readonly StepField[];
  /** What is filled in at first. */
  readonly start: Values;
  /** It comes after those that are not last, once. */
  readonly isLast: boolean;
}

const WHICH_PAGES: StepField = {
  name: 'pages',
  label: t('Pages'),
  description: t('Such as 1-3, 8. All of them if left empty.'),
};

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

export const STEPS: Readonly<Record<StepType, Step>> = {
  pages: {
    title: t('Choose pages'),
    fields: [
      {
        name: 'pages',
        label: t('Pages to keep'),
        description: t('In the order that they are to have, such as 3, 1-2.'),
      },
    ],
    start: {},
    isLast: false,
  },
  rotate: {
    title: t('Turn pages'),
    fields: [{ name: 'rotate', label: t('Degrees'), description: t('Clockwise.') }, WHICH_PAGES],
    start: { rotate: 90 },
    isLast: false,
  },
  stamp: {
    title: t('Stamp'),
    fields: [
      { name: 'html', label: 'HTML', description: t('Its first page is laid over each page.') },
      { name: 'image', label: t('Picture'), description: t('PNG, JPEG or WebP.') },
      { name: 'opacity', description: t('0 cannot be seen, 1 hides what lies below.') },
      WHICH_PAGES,
    ],
    start: { what: 'text', place: 'across', opacity: PLACES.across.opacity },
    isLast: false,
  },
  attach: {
    title: t('Attach files'),
    fields: [
      { name: 'attachments', label: t('Files'), description: t('They lie within the PDF.') },
    ],
    start: { attachments: [{}] },
    isLast: false,
  },
  metadata: {
    title: t('Set title and author'),
    note: t('What is left empty stays as it is.'),
    fields: ['title', 'author', 'subject', 'keywords'].map((name) => ({ name })),
    start: {},
    isLast: false,
  },
  encrypt: {
    title: t('Encrypt with passwords'),
    fields: [
      {
        name: 'user_password',
        description: t('Opens the PDF. Without it, the PDF opens for everybody.'),
      },
      {
        name: 'owner_password',
        description: t('Lifts the restrictions below. Without it, nobody can.'),
      },
      { name: 'permissions' },
    ],
    start: {},
    isLast: true,
  },
  optimize: {
    title: t('Make it smaller'),
    note: t(
      'Packs the PDF, so that a browser shows its first page sooner. Pictures stay as they are.',
    ),
    fields: [],
    start: {},
    isLast: true,
  },
  split: {
    title: t('Split into parts'),
    note: t(
      'Each part becomes a conversion of its own. Its name is the file name below, with the number of the part.',
    ),
    fields: [{ name: 'parts', label: t('Pages of each part'), description: t('Such as 1-2.') }],
    start: {},
    isLast: true,
  },
};

export const STEP_TYPES = Object.keys(STEPS) as readonly StepType[];

export interface StepDraft {
  /** Tells it from the others while they change their places. */
  readonly key: number;
  readonly type: StepType;
  readonly values: Values;
}

/** @param known the fields that the API has for steps of any type */
export function fieldsOfStep(type: StepType, known: readonly Field[]): readonly Field[] {
  return STEPS[type].fields.flatMap(({ name, ...words }) => {
    const field = known.find((each) => each.name === name);
    if (field === undefined) return [];
    return {
      ...field,
      ...words,
      isRequired: name === 'rotate',
      isLong: field.isLong && name !== 'pages',
    };
  });
}

/** Puts a step before those that come last, or among them: `split` is the very last. */
export function withStep(steps: readonly StepDraft[], added: StepDraft): readonly StepDraft[] {
  const rank = ({ type }: StepDraft): number => (type === 'split' ? 2 : Number(STEPS[type].isLast));
  const at = steps.findIndex((step) => rank(step) > rank(added));
  return at === -1 ? [...steps, added] : steps.toSpliced(at, 0, added);
}

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
]);

/** The share of the page's width that a text across it has, and the width of a letter, in parts of its height. */
const ACROSS_PERCENT = 110;
const LETTER = 0.6;
const LARGEST_PERCENT = 24;

/** The HTML of a stamp that shows a text. */
export function stampHtml(text: string, place: Place): string {
  const { box, text: style } = PLACES[place];
  const escaped = text.replace(/[&<]/g, (sign) => ENTITIES.get(sign) ?? sign);
  const letters = Math.max(1, Array.from(text).length);
  const size = Math.min(LARGEST_PERCENT, ACROSS_PERCENT / LETTER / letters).toFixed(1);
  const sized = place === 'across' ? `font-size: ${size}vw; ${style}` : style;
  return `<div style="position: fixed; inset: 0; display: flex; ${box}"><p style="margin: 0; font-family: sans-serif; ${sized}">${escaped}</p></div>`;
}

/** The values of a stamp as its fields are sent: a text becomes HTML. */
export function stampValues({ what, text, place, html, image, ...others }: Values): Values {
  if (what === 'image') return { ...others, image };
  if (what === 'html') return { ...others, html };
  const written = textOf(text);
  return written === '' ? others : { ...others, html: stampHtml(written, place as Place) };
}

/** The values of a step that was sent, as its fields show them. */
export function shownStep(type: StepType, sent: Values, known: readonly Field[]): Values {
  const values = optionsOf(fieldsOfStep(type, known), sent);
  if (type !== 'stamp') return values;
  return { place: 'across', ...values, what: sent['image'] === undefined ? 'html' : 'image' };
}
