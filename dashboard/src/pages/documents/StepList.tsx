import { useEffect, useRef, useState } from 'react';
import { errorWithin, type FieldErrors } from '../../request/Framed.tsx';
import { OptionFields } from '../../request/OptionField.tsx';
import type { Field } from '../../request/schema.ts';
import { textOf, type Values, valuesOf } from '../../request/values.ts';
import { Button } from '../../ui/Button.tsx';
import { OrderedList } from '../../ui/OrderedList.tsx';
import { Section } from '../../ui/Page.tsx';
import { Select } from '../../ui/choices.tsx';
import { TextField } from '../../ui/forms.tsx';
import styles from './documents.module.css';
import { newStep } from './draft.ts';
import {
  fieldsOfStep,
  type Place,
  PLACES,
  STEP_TYPES,
  type StepDraft,
  STEPS,
  type StepType,
} from './steps.ts';
import { t } from '../../words/words.ts';

interface StepListProps {
  readonly steps: readonly StepDraft[];
  /** The fields that the API has for steps. */
  readonly field: Field;
  readonly onAdd: (step: StepDraft) => void;
  readonly onChange: (steps: readonly StepDraft[]) => void;
  readonly onOrder: (steps: readonly StepDraft[]) => void;
  readonly errors: FieldErrors;
}

/** The steps that are done with the PDFs, in their order. */
export function StepList({ steps, field, onAdd, onChange, onOrder, errors }: StepListProps) {
  const [lastAdded, setLastAdded] = useState<number>();
  const add = (type: StepType) => {
    const step = newStep(type);
    setLastAdded(step.key);
    onAdd(step);
  };
  return (
    <Section title={t('Steps')} lead={t('They are done in this order, once the PDFs are joined.')}>
      <OrderedList
        label={t('Steps in their order')}
        items={steps}
        nameOf={({ type }) => STEPS[type].title}
        onChange={onOrder}
        head={({ type }) => <h3>{STEPS[type].title}</h3>}
      >
        {(step, at) => (
          <StepFields
            step={step}
            path={`steps.${at}`}
            isNew={step.key === lastAdded}
            known={field.fields}
            onChange={(values) => onChange(steps.with(at, { ...step, values }))}
            errors={errors}
          />
        )}
      </OrderedList>
      <div role="group" aria-label={t('Add a step')} className="line">
        {STEP_TYPES.map((type) => (
          <Button
            key={type}
            small
            icon="plus"
            isDisabled={
              steps.length >= field.most ||
              (STEPS[type].isLast && steps.some((step) => step.type === type))
            }
            onPress={() => add(type)}
          >
            {STEPS[type].title}
          </Button>
        ))}
      </div>
    </Section>
  );
}

interface StepFieldsProps {
  readonly step: StepDraft;
  /** As the service names the step in its errors. */
  readonly path: string;
  /** It was added just now, and takes the focus. */
  readonly isNew: boolean;
  readonly known: readonly Field[];
  readonly onChange: (values: Values) => void;
  readonly errors: FieldErrors;
}

function StepFields(props: StepFieldsProps) {
  const { step, path, isNew, known, onChange, errors } = props;
  const { type, values } = step;
  const group = useRef<HTMLDivElement>(null);
  const starts = useRef(isNew);
  useEffect(() => {
    if (!starts.current) return;
    starts.current = false;
    const { current } = group;
    (current?.querySelector<HTMLElement>('input, textarea, button') ?? current)?.focus();
  }, []);
  const { title, note } = STEPS[type];
  const fields = fieldsOfStep(type, known);
  const common = { prefix: `${path}.`, value: values, errors };
  const error = errors[path]?.join(' ');
  return (
    <div ref={group} role="group" aria-label={title} tabIndex={-1} className={styles.step}>
      {note !== undefined && <p className="note">{note}</p>}
      {error !== undefined && (
        <p className="wrong" role="alert">
          {error}
        </p>
      )}
      {type === 'stamp' && (
        <StampFields
          values={values}
          onChange={onChange}
          error={errorWithin(errors, `${path}.html`)}
        />
      )}
      <OptionFields
        {...common}
        fields={type === 'stamp' ? fields.filter((each) => isOfStamp(each, values)) : fields}
        onChange={(next) => onChange(valuesOf(next))}
      />
    </div>
  );
}

/** A stamp shows one of these. */
const KINDS = [
  { value: 'text', label: t('A text') },
  { value: 'image', label: t('A picture') },
  { value: 'html', label: 'HTML' },
] as const;

const isOfStamp = ({ name }: Field, { what }: Values): boolean =>
  (name !== 'html' && name !== 'image') || name === what;

interface StampFieldsProps {
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  /** Of the text, which is sent as HTML. */
  readonly error: string | undefined;
}

function StampFields({ values, onChange, error }: StampFieldsProps) {
  const kind = KINDS.find(({ value }) => value === values['what'])?.value ?? 'text';
  const places = Object.entries(PLACES) as [Place, (typeof PLACES)[Place]][];
  return (
    <div className="fields">
      <Select
        label={t('Stamp with')}
        choices={KINDS}
        value={kind}
        onChange={(what) => onChange({ ...values, what })}
      />
      {kind === 'text' && (
        <>
          <TextField
            label={t('Text')}
            hint={t('Such as Draft or Copy.')}
            value={textOf(values['text'])}
            error={error}
            onChange={(text) => onChange({ ...values, text })}
          />
          <Select
            label={t('Place')}
            choices={places.map(([value, { label }]) => ({ value, label }))}
            value={values['place'] as Place}
            onChange={(place) => onChange({ ...values, place, opacity: PLACES[place].opacity })}
          />
        </>
      )}
    </div>
  );
}
