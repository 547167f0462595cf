import type { FieldErrors } from '../../request/Framed.tsx';
import { OptionGroup } from '../../request/OptionField.tsx';
import type { Field } from '../../request/schema.ts';
import { type Values, valuesOf } from '../../request/values.ts';
import { type Draft, goesWith } from './request.ts';
import { t } from '../../words/words.ts';

/** The option whose fields are in groups of their own. */
const PDF = 'pdf';
const WITHIN_PDF = `${PDF}.`;

interface Group {
  readonly title: string;
  /** The paths of its fields: all of them are options, or all are of `pdf`. */
  readonly names: readonly string[];
}

const GROUPS: readonly Group[] = [
  { title: t('Files'), names: ['files'] },
  {
    title: t('Page'),
    names: [
      'format',
      'page_size',
      'width',
      'height',
      'media',
      'margin_top',
      'margin_right',
      'margin_bottom',
      'margin_left',
      'scale',
      'page_ranges',
      'landscape',
      'single_page',
      'print_background',
      'prefer_css_page_size',
    ],
  },
  {
    title: t('Surroundings of the page'),
    names: ['css', 'color_scheme', 'viewport', 'timezone', 'locale'],
  },
  { title: t('Header and footer'), names: ['header_html', 'footer_html'] },
  {
    title: t('Document'),
    names: ['filename', 'reference', 'tags', 'metadata', 'tagged', 'outline'],
  },
  { title: t('Conformance'), names: ['pdf.conformance', 'pdf.conformance_required'] },
  { title: t('Invoice'), names: ['pdf.invoice'] },
  { title: t('Attachments'), names: ['pdf.attachments'] },
  { title: t('Stamp'), names: ['pdf.stamp'] },
  { title: t('Encryption'), names: ['pdf.encrypt'] },
  { title: t('Signature'), names: ['pdf.sign'] },
  { title: t('Scripts and waiting'), names: ['javascript', 'wait_for', 'fail_on'] },
  { title: t('The same bytes each time'), names: ['deterministic', 'deterministic_time'] },
  {
    title: t('Priority, webhook and retention'),
    names: ['priority', 'webhook_url', 'retention_seconds'],
  },
  { title: t('Cookies and headers'), names: ['headers', 'cookies'] },
];

interface FilledGroup {
  readonly title: string;
  /** The part of the paths before the names of the fields. */
  readonly prefix: '' | typeof WITHIN_PDF;
  readonly fields: readonly Field[];
}

/** The fields by groups; those that no group names come last, so that a new option is there at once. */
function grouped(fields: readonly Field[]): readonly FilledGroup[] {
  const ofPdf = fields.find(({ name }) => name === PDF)?.fields ?? [];
  const byName = new Map([
    ...fields.map((field) => [field.name, field] as const),
    ...ofPdf.map((field) => [WITHIN_PDF + field.name, field] as const),
  ]);
  const named = GROUPS.map(
    ({ title, names }): FilledGroup => ({
      title,
      prefix: names.some((name) => name.startsWith(WITHIN_PDF)) ? WITHIN_PDF : '',
      fields: names.flatMap((name) => byName.get(name) ?? []),
    }),
  );
  const known = new Set([PDF, ...GROUPS.flatMap(({ names }) => names)]);
  const others = (from: readonly Field[], prefix: FilledGroup['prefix']) =>
    from.filter(({ name }) => !known.has(prefix + name));
  return [
    ...named,
    { title: t('More of the PDF'), prefix: WITHIN_PDF, fields: others(ofPdf, WITHIN_PDF) } as const,
    { title: t('More'), prefix: '', fields: others(fields, '') } as const,
  ].filter((group) => group.fields.length > 0);
}

interface OptionsFormProps {
  readonly fields: readonly Field[];
  readonly draft: Draft;
  readonly onChange: (options: Values) => void;
  readonly errors: FieldErrors;
}

/** All options that go with the source, made from the schema of the request. */
export function OptionsForm({ fields, draft, onChange, errors }: OptionsFormProps) {
  const groups = grouped(fields.filter((field) => goesWith(field, draft.source)));
  return (
    <div>
      {groups.map(({ prefix, ...group }) => (
        <OptionGroup
          key={group.title}
          {...group}
          prefix={prefix}
          values={prefix === '' ? draft.options : valuesOf(draft.options[PDF])}
          onChange={(next) => onChange(prefix === '' ? next : { ...draft.options, [PDF]: next })}
          errors={errors}
        />
      ))}
    </div>
  );
}
