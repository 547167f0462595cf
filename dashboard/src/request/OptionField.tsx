import { useEffect, useId, useRef, useState } from 'react';
import { Button } from '../ui/Button.tsx';
import { CheckboxGroup, NumberField, Select, Switch } from '../ui/choices.tsx';
import { TextField } from '../ui/forms.tsx';
import { OrderedList } from '../ui/OrderedList.tsx';
import { COMPOSED, type ComposedProps } from './composed.tsx';
import { FileOption, RowsField } from './RowsField.tsx';
import { errorWithin, Framed, Notes, type OptionProps } from './Framed.tsx';
import { Pictured } from './Pictured.tsx';
import styles from './request.module.css';
import {
  type Item,
  isOn,
  itemOf,
  listOf,
  nameIn,
  newItem,
  textOf,
  textsOf,
  typeIn,
  type Values,
  valuesOf,
  withItem,
} from './values.ts';
import type { Field, ItemType } from './schema.ts';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

/** Stands for a choice that is not sent. */
const NONE = '';

/** A field of the form, as the schema of the option asks for. */
export function OptionField(props: OptionProps) {
  const { field, path, value, onChange, errors } = props;
  const { label, description, kind, usual, choices, fields, isWhole, minimum, maximum } = field;
  const common = { label, hint: description, error: errorWithin(errors, path) };
  const shown = value ?? usual;
  switch (kind) {
    case 'switch':
      return <SwitchOption {...props} />;
    case 'choice':
      return (
        <Select
          {...common}
          choices={
            usual === undefined ? [{ value: NONE, label: t('Not set') }, ...choices] : choices
          }
          value={typeof shown === 'number' ? String(shown) : textOf(shown)}
          onChange={(next) => onChange(isWhole && next !== NONE ? Number(next) : next)}
        />
      );
    case 'choices':
      return <CheckboxGroup {...common} {...{ choices, onChange }} value={textsOf(value)} />;
    case 'number':
      return (
        <NumberField
          {...common}
          {...(minimum !== undefined && { minValue: minimum })}
          {...(maximum !== undefined && { maxValue: maximum })}
          step={isWhole ? 1 : 0.01}
          formatOptions={{ maximumFractionDigits: isWhole ? 0 : 2, useGrouping: false }}
          value={typeof shown === 'number' ? shown : Number.NaN}
          onChange={(next) => onChange(Number.isNaN(next) ? undefined : next)}
        />
      );
    case 'text':
    case 'texts':
      return (
        <TextField
          {...common}
          {...(kind === 'texts' && { hint: `${description ?? ''} ${t('One per line.')}`.trim() })}
          {...(field.isLong && { rows: 3, mono: kind === 'text' })}
          value={textOf(shown)}
          onChange={onChange}
          isRequired={field.isRequired}
        />
      );
    case 'file':
      return <FileOption {...props} />;
    case 'extended':
      return (
        <div className="stack gap-3">
          <SwitchOption
            field={field}
            path={path}
            value={isOn(value)}
            onChange={(next) => onChange(next === true ? {} : undefined)}
            errors={isOn(value) ? { [path]: errors[path] } : errors}
          />
          {isOn(value) && <OptionFields {...props} fields={fields} prefix={`${path}.`} />}
        </div>
      );
    case 'record':
    case 'files':
      return <RowsField {...props} />;
    case 'list':
    case 'group':
      return (
        <Framed field={field} error={errors[path]?.join(' ')}>
          {kind === 'list' ? (
            <Items {...props} />
          ) : (
            <OptionFields {...props} fields={fields} prefix={`${path}.`} />
          )}
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
export function OptionFields({ fields, prefix = '', value, onChange, errors }: OptionFieldsProps) {
  const values = valuesOf(value);
  const draw = (field: Field) => (
    <OptionField
      key={field.name}
      field={field}
      path={prefix + field.name}
      value={values[field.name]}
      onChange={(next, file) =>
        onChange({ ...values, ...factsOf(file, fields), [field.name]: next })
      }
      errors={errors}
    />
  );
  const shown = fields.flatMap((field) => {
    const parts = COMPOSED.find(({ names }) => names.includes(field.name));
    const own = fields.filter(({ name }) => parts?.names.includes(name));
    if (parts === undefined || own.length < parts.names.length)
      return { field, isWhole: isWide(field), children: draw(field) };
    // One field stands for all of them.
    if (field !== own[0]) return [];
    const composed: ComposedProps = { fields: own, prefix, values, onChange, errors, draw };
    return { field, isWhole: true, children: <parts.as {...composed} /> };
  });
  return (
    <div className="fields">
      {shown.map(({ field, isWhole, children }) => (
        <div key={field.name} className={isWhole ? styles.wide : undefined}>
          <Pictured name={field.name}>{children}</Pictured>
        </div>
      ))}
    </div>
  );
}

/** What a chosen file says of the fields beside its content. */
function factsOf(file: File | undefined, fields: readonly Field[]): Values {
  if (file === undefined) return {};
  const facts = { filename: file.name, type: file.type || 'application/octet-stream' };
  const names = new Set(fields.map(({ name }) => name));
  return Object.fromEntries(Object.entries(facts).filter(([name]) => names.has(name)));
}

/** A list of objects, such as cookies, or the steps of work: each with the same fields, or those of its type. */
export function Items({ field, path, value, onChange, errors }: OptionProps) {
  const items = listOf(value);
  const [added, setAdded] = useState<number>();
  const add = (item: Item) => {
    setAdded(item.key);
    onChange(withItem(field, items, item));
  };
  const isFull = items.length >= field.most;
  const nameOf = (item: Item): string =>
    nameIn(field, item) ?? `${field.label}: ${items.indexOf(item) + 1}`;
  return (
    <>
      <OrderedList
        label={t('{label} in their order', { label: field.label })}
        items={items}
        nameOf={nameOf}
        onChange={onChange}
        // The list has its label already.
        head={(item) => <strong>{nameIn(field, item) ?? items.indexOf(item) + 1}</strong>}
      >
        {(item, at) => (
          <ItemFields
            name={nameOf(item)}
            type={typeIn(field, item)}
            fields={field.fields}
            path={`${path}.${at}`}
            isNew={item.key === added}
            value={item}
            onChange={(next) => onChange(items.with(at, next as Item))}
            errors={errors}
          />
        )}
      </OrderedList>
      {field.types.length === 0 ? (
        <Button small icon="plus" isDisabled={isFull} onPress={() => add(newItem({}))}>
          {rich('Add to {value}', { value: field.label })}
        </Button>
      ) : (
        <div role="group" aria-label={t('Add to {value}', { value: field.label })} className="line">
          {field.types.map((type) => (
            <Button
              key={type.type}
              small
              icon="plus"
              isDisabled={
                isFull || (type.isLast && items.some((item) => item['type'] === type.type))
              }
              onPress={() => add(itemOf(type))}
            >
              {type.label}
            </Button>
          ))}
        </div>
      )}
    </>
  );
}

interface ItemFieldsProps extends Omit<OptionProps, 'field'> {
  readonly name: string;
  readonly type: ItemType | undefined;
  /** Those of an item that has no type. */
  readonly fields: readonly Field[];
  /** It was added just now, and takes the focus. */
  readonly isNew: boolean;
}

function ItemFields({ name, type, fields, path, isNew, ...option }: ItemFieldsProps) {
  const group = useRef<HTMLDivElement>(null);
  const starts = useRef(isNew);
  useEffect(() => {
    if (!starts.current) return;
    starts.current = false;
    const { current } = group;
    (current?.querySelector<HTMLElement>('input, textarea, button') ?? current)?.focus();
  }, []);
  const error = option.errors[path]?.join(' ');
  return (
    <div
      ref={group}
      role="group"
      aria-label={name}
      tabIndex={-1}
      className={`${styles.framed} stack gap-3`}
    >
      {type?.description !== undefined && <p className="note">{type.description}</p>}
      {error !== undefined && (
        <p className="wrong" role="alert">
          {error}
        </p>
      )}
      <OptionFields {...option} fields={type?.fields ?? fields} prefix={`${path}.`} />
    </div>
  );
}

const isWide = ({ kind, isLong }: Field): boolean =>
  ['group', 'extended', 'list', 'record', 'files', 'choices', 'texts'].includes(kind) ||
  (kind === 'text' && isLong);

function SwitchOption({ field, path, value, onChange, errors }: OptionProps) {
  const id = useId();
  return (
    <div className="stack gap-1 start">
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
