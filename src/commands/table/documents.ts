/** The command that works on finished PDFs. */
import { ROTATIONS } from '../../domain/request-document.ts';
import type { Command, OptionSpec } from '../command.ts';
import { CONVERT_FLAGS } from '../convert-options.ts';
import { SERVICE_OPTIONS, TEST_OPTION } from '../options.ts';

const below = (
  heading: string,
  options: Readonly<Record<string, OptionSpec>>,
): Readonly<Record<string, OptionSpec>> =>
  Object.fromEntries(Object.entries(options).map(([name, spec]) => [name, { ...spec, heading }]));

/** Flags of `convert`, in the order of the steps that they ask for. */
const STEPS = [
  'keep-pages',
  'rotate',
  'rotate-pages',
  'stamp-html',
  'stamp-image',
  'stamp-opacity',
  'stamp-pages',
  'stamp-fit',
  'attach',
  'metadata',
  'user-password',
  'owner-password',
  'deny',
  'optimize',
  'sign',
  'sign-reason',
  'sign-location',
  'sign-field',
  'sign-page',
  'part',
];
const MARKS = ['filename', 'reference', 'tag', 'webhook-url', 'retention-seconds', 'priority'];

const OWN: Readonly<Record<string, OptionSpec>> = {
  'keep-pages': {
    value: 'list',
    help: 'the pages to keep, in this order, such as 3,1-2; tags are dropped',
  },
  rotate: { help: `turn pages clockwise: ${ROTATIONS.join(', ')}` },
  'rotate-pages': { value: 'list', help: 'the pages to turn, such as 1,3-5; all unless given' },
  part: {
    value: 'list',
    help: 'make a PDF of these pages, such as 1-2, in the folder that -o names; may be given several times',
    many: true,
  },
};

const named = (names: readonly string[]) =>
  Object.fromEntries(
    names.map((name) => [name, { help: '', ...CONVERT_FLAGS[name], ...OWN[name] }]),
  );

export const DOCUMENTS: readonly Command[] = [
  {
    name: 'documents',
    summary: 'Join PDFs, split, turn, stamp, encrypt or optimise them, by a service.',
    examples: [
      'documents cover.pdf report.pdf -o all.pdf',
      'documents report.pdf -o parts/ --part 1-2 --part 3',
      'documents conv_01jd3v3p8z6s2q4w9x7y5t1r0k -o draft.pdf --stamp-html draft.html',
      'documents scan.pdf -o scan.pdf --keep-pages 2-9 --rotate 90 --optimize',
    ],
    positionals: {
      source: "a PDF, - for standard input, or a conversion's id; several are joined in this order",
    },
    takesMany: true,
    options: {
      output: {
        value: 'file',
        short: 'o',
        help: 'the PDF to write, or - for standard output; with --part the folder of the PDFs',
        needed: true,
      },
      password: {
        value: 'password',
        help: 'opens sources that are encrypted: one for all, or one for each in their order',
        many: true,
      },
      test: TEST_OPTION,
      ...below('Steps, done in this order:', named(STEPS)),
      ...below('What is made:', named(MARKS)),
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../documents.ts')).documents(...given),
  },
];
