import { LAST_STEPS, STEP_FIELDS, type StepType } from './documents.ts';
import { type FieldWords, told } from './form-words.ts';

/** What forms call the steps of work on PDFs. */
interface StepWords extends FieldWords {
  /** What its fields are called, where that is not what others call them. */
  readonly fields?: Readonly<Record<string, FieldWords>>;
}

/** Several PDFs are joined anyway, so forms do not offer it. */
type Offered = Exclude<StepType, 'merge'>;

const STEP_WORDS: Readonly<Record<Offered, StepWords>> = {
  pages: {
    label: 'Choose pages',
    fields: {
      pages: {
        label: 'Pages to keep',
        hint: 'In the order that they are to have, such as 3, 1-2.',
      },
    },
  },
  rotate: { label: 'Turn pages' },
  stamp: { label: 'Stamp' },
  attach: { label: 'Attach files' },
  metadata: { label: 'Set title and author', hint: 'What is left empty stays as it is.' },
  encrypt: { label: 'Encrypt with passwords', hint: 'With one password, or both.' },
  optimize: {
    label: 'Make it smaller',
    hint: 'Packs the PDF, so that a browser shows its first page sooner. Pictures stay as they are.',
  },
  split: {
    label: 'Split into parts',
    hint: 'Each part becomes a conversion of its own. Its name is the file name below, with the number of the part.',
  },
};

/** The types of steps that a form offers, each with its fields: `x-types` of a step in the OpenAPI document. */
export const STEP_FORMS = Object.entries(STEP_WORDS).map(([type, { fields = {}, ...words }]) => ({
  type,
  ...told(words),
  ...STEP_FIELDS[type as Offered],
  isLast: LAST_STEPS.has(type as Offered),
  words: Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, told(each)])),
}));
