import { useEffect, useId, useState } from 'react';
import { Button } from '../ui/Button.tsx';
import { Checkbox, NumberField, Select, Switch } from '../ui/choices.tsx';
import { TextField } from '../ui/forms.tsx';
import { FileOption, RowsField } from './RowsField.tsx';
import { errorWithin, type FieldErrors, Framed, Notes, type OptionProps } from './Framed.tsx';
import { Pictured } from './Pictured.tsx';
import styles from './request.module.css';
import { changedCount, isOn, listOf, textOf, textsOf, type Values, valuesOf } from './values.ts';
import { type Field, labelOf } from './schema.ts';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';
import { Button as AriaButton, Disclosure, DisclosurePanel, Heading } from 'react-aria-components';
import { Icon } from '../ui/icons.tsx';

/** A field of the form, as the schema of the option asks for. */
export function OptionField(props: OptionProps) {
  const { field, path, errors } = props;
  switch (field.kind) {
    case 'switch':
      return <SwitchOption {...props} />;
    case 'choice':
      return <ChoiceOption {...props} />;
    case 'choices':
      return <ChoicesOption {...props} />;
    case 'number':
      return <NumberOption {...props} />;
    case 'text':
    case 'texts':
      return <TextOption {...props} />;
    case 'file':
      return <FileOption {...props} />;
    case 'extended':
      return <ExtendedOption {...props} />;
    case 'record':
    case 'files':
      return <RowsField {...props} />;
    case 'list':
      return <ItemsOption {...props} />;
    case 'group':
      return (
        <Framed field={field} error={errors[path]?.join(' ')}>
          <OptionFields {...props} fields={field.fields} prefix={`${path}.`} />
        </Framed>
      );
  }
}

interface OptionFieldsProps extends Pick<OptionProps, 'value' | 'onChange' | 'errors'> {
  readonly fields: readonly Field[];
  /** The part of the paths before the names. */
  readonly prefix?: string;
}

/** The fields of an object. */
export function OptionFields(props: OptionFieldsProps) {
  const { fields: all, prefix = '', value, onChange, errors } = props;
  const values = valuesOf(value);
  const margins = all.filter(({ name }) => SIDES.has(name));
  // One field stands for the four.
  const fields = all.filter((field) => !margins.includes(field) || field === margins[0]);
  return (
    <div className="fields">
      {fields.map((field) => (
        <div key={field.name} className={isWide(field) ? styles.wide : undefined}>
          <Pictured name={field.name}>
            {field === margins[0] ? (
              <MarginOption fields={margins} {...{ prefix, errors, onChange }} value={values} />
            ) : (
              <OptionField
                field={field}
                path={prefix + field.name}
                value={values[field.name]}
                onChange={(next, file) =>
                  onChange({ ...values, ...factsOf(file, all), [field.name]: next })
                }
                errors={errors}
              />
            )}
          </Pictured>
        </div>
      ))}
    </div>
  );
}

/** The four margins by their options. */
const SIDES = new Map([
  ['margin_top', t('Top')],
  ['margin_right', t('Right')],
  ['margin_bottom', t('Bottom')],
  ['margin_left', t('Left')],
]);

/** The margins: one for all sides, or each by itself. */
function MarginOption({ fields, prefix = '', value, onChange, errors }: OptionFieldsProps) {
  const id = useId();
  const values = valuesOf(value);
  const shown = fields.map(({ name, usual }) => textOf(values[name] ?? usual));
  const [first = ''] = shown;
  const set = (names: readonly string[], next: string) =>
    onChange({ ...values, ...Object.fromEntries(names.map((name) => [name, next])) });
  return (
    <fieldset className={styles.framed} aria-describedby={id}>
      <legend className={styles.legend}>{t('Margin')}</legend>
      <p id={id} className="note">
        {t('Decimal numbers with the unit px, cm, in or mm, such as 10mm.')}
      </p>
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
    </fieldset>
  );
}

/** What a chosen file says of the fields beside its content. */
function factsOf(file: File | undefined, fields: readonly Field[]): Values {
  if (file === undefined) return {};
  const facts = { filename: file.name, type: file.type || 'application/octet-stream' };
  const names = new Set(fields.map(({ name }) => name));
  return Object.fromEntries(Object.entries(facts).filter(([name]) => names.has(name)));
}

/** A list of objects with the same fields, such as cookies. */
function ItemsOption({ field, path, value, onChange, errors }: OptionProps) {
  const items = listOf(value);
  return (
    <Framed field={field} error={errors[path]?.join(' ')}>
      {items.map((item, at) => (
        // Items have no identity but their place.
        <div key={at} role="group" aria-label={`${field.label}: ${at + 1}`} className={styles.item}>
          <OptionFields
            fields={field.fields}
            prefix={`${path}.${at}.`}
            value={item}
            onChange={(next) => onChange(items.with(at, next as Values))}
            errors={errors}
          />
          <Button small icon="trash" onPress={() => onChange(items.toSpliced(at, 1))}>
            {rich('Remove {value}', { value: at + 1 })}
          </Button>
        </div>
      ))}
      <Button
        small
        icon="plus"
        isDisabled={items.length >= field.most}
        onPress={() => onChange([...items, {}])}
      >
        {rich('Add to {value}', { value: field.label.toLowerCase() })}
      </Button>
    </Framed>
  );
}

const isWide = ({ name, kind, isLong }: Field): boolean =>
  SIDES.has(name) ||
  ['group', 'extended', 'list', 'record', 'files', 'choices', 'texts'].includes(kind) ||
  (kind === 'text' && isLong);

function SwitchOption({ field, path, value, onChange, errors }: OptionProps) {
  const id = useId();
  return (
    <div className={styles.switch}>
      <Switch
        isSelected={(value ?? field.usual) === true}
        onChange={onChange}
        aria-describedby={id}
      >
        {field.label}
      </Switch>
      <Notes id={id} field={field} error={errorWithin(errors, path)} />
    </div>
  );
}

/** A switch that has more fields while it is on, such as a signature with its reason. */
function ExtendedOption({ field, path, value, onChange, errors }: OptionProps) {
  return (
    <div className={styles.framed}>
      <SwitchOption
        field={field}
        path={path}
        value={isOn(value)}
        onChange={(next) => onChange(next === true ? {} : undefined)}
        errors={isOn(value) ? { [path]: errors[path] } : errors}
      />
      {isOn(value) && (
        <OptionFields
          fields={field.fields}
          prefix={`${path}.`}
          value={value}
          onChange={onChange}
          errors={errors}
        />
      )}
    </div>
  );
}

/** Stands for a choice that is not sent. */
const NONE = '';

function ChoiceOption({ field, path, value, onChange, errors }: OptionProps) {
  const shown = value ?? field.usual ?? NONE;
  const none = field.usual === undefined ? [{ value: NONE, label: t('Not set') }] : [];
  const choices = field.choices.map((choice) => ({ value: choice, label: choice }));
  return (
    <Select
      label={field.label}
      hint={field.description}
      error={errorWithin(errors, path)}
      choices={[...none, ...choices]}
      value={typeof shown === 'number' ? String(shown) : textOf(shown)}
      onChange={(next) => onChange(field.isWhole && next !== NONE ? Number(next) : next)}
    />
  );
}

function ChoicesOption({ field, path, value, onChange, errors }: OptionProps) {
  const chosen = textsOf(value);
  return (
    <Framed field={field} error={errorWithin(errors, path)}>
      <div className="line">
        {field.choices.map((choice) => (
          <Checkbox
            key={choice}
            isSelected={chosen.includes(choice)}
            onChange={(isChosen) =>
              onChange(isChosen ? [...chosen, choice] : chosen.filter((each) => each !== choice))
            }
          >
            {labelOf(choice)}
          </Checkbox>
        ))}
      </div>
    </Framed>
  );
}

function NumberOption({ field, path, value, onChange, errors }: OptionProps) {
  const { minimum, maximum, isWhole } = field;
  const shown = value ?? field.usual;
  return (
    <NumberField
      label={field.label}
      hint={field.description}
      error={errorWithin(errors, path)}
      {...(minimum !== undefined && { minValue: minimum })}
      {...(maximum !== undefined && { maxValue: maximum })}
      step={isWhole ? 1 : 0.01}
      formatOptions={{ maximumFractionDigits: isWhole ? 0 : 2, useGrouping: false }}
      value={typeof shown === 'number' ? shown : Number.NaN}
      onChange={(next) => onChange(Number.isNaN(next) ? undefined : next)}
    />
  );
}

function TextOption({ field, path, value, onChange, errors }: OptionProps) {
  const isList = field.kind === 'texts';
  const note = isList ? t('One per line.') : '';
  const hint = [field.description ?? '', note].join(' ').trim();
  const common = {
    label: field.label,
    ...(hint !== '' && { hint }),
    error: errorWithin(errors, path),
    value: textOf(value ?? field.usual),
    onChange,
    isRequired: field.isRequired,
  };
  return <TextField {...common} {...(field.isLong && { rows: 3, mono: !isList })} />;
}

interface OptionGroupProps {
  readonly title: string;
  readonly fields: readonly Field[];
  /** The part of the paths before the names of the fields. */
  readonly prefix?: string;
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly errors: FieldErrors;
}

/** Fields that are folded until a person opens them, or one of them is wrong. */
export function OptionGroup(props: OptionGroupProps) {
  const { title, fields, prefix = '', values, onChange, errors } = props;
  const [isOpen, setOpen] = useState(false);
  const isWrong = fields.some(({ name }) => errorWithin(errors, prefix + name) !== undefined);
  useEffect(() => {
    if (isWrong) setOpen(true);
  }, [isWrong, errors]);
  const changed = changedCount(fields, values);
  return (
    <Disclosure isExpanded={isOpen} onExpandedChange={setOpen} className={styles.group}>
      <Heading level={3} className={styles.groupHeading}>
        <AriaButton slot="trigger" className={styles.groupButton}>
          <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} size={16} />
          {title}
          {changed > 0 && (
            <span className={styles.changed}>{rich('{changed} set', { changed })}</span>
          )}
        </AriaButton>
      </Heading>
      <DisclosurePanel className={styles.groupPanel}>
        {isOpen && (
          <OptionFields
            fields={fields}
            prefix={prefix}
            value={values}
            onChange={(next) => onChange(valuesOf(next))}
            errors={errors}
          />
        )}
      </DisclosurePanel>
    </Disclosure>
  );
}
