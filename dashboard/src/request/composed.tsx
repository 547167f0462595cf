/** Options that are shown as one: the four margins, and what a stamp shows. */
import type { ComponentType, ReactNode } from 'react';
import { Select } from '../ui/choices.tsx';
import { TextField } from '../ui/forms.tsx';
import { errorWithin, type FieldErrors, Framed } from './Framed.tsx';
import styles from './request.module.css';
import type { Field } from './schema.ts';
import {
  PLACE_CHOICES,
  PLACES,
  type Place,
  STAMP_FIELDS,
  STAMP_KINDS,
  stampHtml,
  type StampKind,
  stampKind,
} from './stamp.ts';
import { textOf, type Values, valuesOf } from './values.ts';
import { t } from '../words/words.ts';

export interface ComposedProps {
  /** Those that are shown as one. */
  readonly fields: readonly Field[];
  readonly prefix: string;
  /** Those of all fields of the object. */
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly errors: FieldErrors;
  readonly draw: (field: Field) => ReactNode;
}

interface Composed {
  readonly names: readonly string[];
  readonly as: ComponentType<ComposedProps>;
}

/** The four margins by their options. */
const SIDES = new Map([
  ['margin_top', t('Top')],
  ['margin_right', t('Right')],
  ['margin_bottom', t('Bottom')],
  ['margin_left', t('Left')],
]);

/** The margins: one for all sides, or each by itself. */
function Margins({ fields, prefix, values, onChange, errors }: ComposedProps) {
  const shown = fields.map(({ name, usual }) => textOf(values[name] ?? usual));
  const [first = ''] = shown;
  const set = (names: readonly string[], next: string) =>
    onChange({ ...values, ...Object.fromEntries(names.map((name) => [name, next])) });
  return (
    <Framed
      field={{
        label: t('Margin'),
        description: t('Decimal numbers with the unit px, cm, in or mm, such as 10mm.'),
      }}
    >
      <div className={styles.sides}>
        <TextField
          label={t('All sides')}
          placeholder={t('differ')}
          value={shown.every((each) => each === first) ? first : ''}
          onChange={(next) => set([...SIDES.keys()], next)}
        />
        {fields.map(({ name }, at) => (
          <TextField
            key={name}
            label={SIDES.get(name) ?? name}
            value={shown[at] ?? ''}
            error={errorWithin(errors, prefix + name)}
            onChange={(next) => set([name], next)}
          />
        ))}
      </div>
    </Framed>
  );
}

/** What a stamp shows: HTML, which is made of a text where a person wants that, or a picture. */
function StampContent({ fields, prefix, values, onChange, errors, draw }: ComposedProps) {
  const { text, place = 'across' } = values;
  const kind = stampKind(values);
  const write = (written: string, at: Place, more: Values = {}) => {
    const { opacity } = PLACES[at];
    const shown = { what: 'text', text: written, place: at, html: stampHtml(written, at) };
    onChange({ opacity, ...values, ...more, ...shown });
  };
  const choose = (next: StampKind) => {
    // What was chosen before comes back when a person does.
    const own: Values = { ...valuesOf(values['own']), [kind]: values[kind] };
    const others = { own, what: next, html: undefined, image: undefined };
    if (next === 'text') write(textOf(text), place as Place, others);
    else onChange({ ...values, ...others, [next]: own[next] });
  };
  return (
    <div className="fields">
      <Select label={t('Stamp with')} choices={STAMP_KINDS} value={kind} onChange={choose} />
      {kind === 'text' && (
        <>
          <TextField
            label={t('Text')}
            hint={t('Such as Draft or Copy.')}
            value={textOf(text)}
            error={errorWithin(errors, `${prefix}html`)}
            onChange={(written) => write(written, place as Place)}
          />
          <Select
            label={t('Place')}
            choices={PLACE_CHOICES}
            value={place as Place}
            onChange={(next) => write(textOf(text), next, { opacity: PLACES[next].opacity })}
          />
        </>
      )}
      {fields.filter(({ name }) => name === kind || name === 'opacity').map(draw)}
    </div>
  );
}

export const COMPOSED: readonly Composed[] = [
  { names: [...SIDES.keys()], as: Margins },
  { names: STAMP_FIELDS, as: StampContent },
];
