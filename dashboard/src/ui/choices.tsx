import type { ReactNode } from 'react';
import {
  Button,
  Checkbox as AriaCheckbox,
  CheckboxGroup as AriaCheckboxGroup,
  type CheckboxProps as AriaCheckboxProps,
  Group,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  NumberField as AriaNumberField,
  type NumberFieldProps as AriaNumberFieldProps,
  Popover,
  Select as AriaSelect,
  SelectValue,
  Switch as AriaSwitch,
  type SwitchProps as AriaSwitchProps,
} from 'react-aria-components';
import styles from './forms.module.css';
import { Icon } from './icons.tsx';
import { t } from '../words/words.ts';
import { FieldNotes, type FieldTexts } from './forms.tsx';

const CHECK = `${styles.check} beside gap-2`;

interface CheckboxProps extends Omit<AriaCheckboxProps, 'className' | 'style' | 'children'> {
  /** Without it, `aria-label` says what it is for. */
  readonly children?: ReactNode;
}

export function Checkbox({ children, ...props }: CheckboxProps) {
  return (
    <AriaCheckbox {...props} className={CHECK}>
      <span className={styles.box}>
        <Icon name="check" size={14} />
      </span>
      {children}
    </AriaCheckbox>
  );
}

interface CheckboxGroupProps<Value extends string> extends FieldTexts {
  readonly choices: readonly Choice<Value>[];
  readonly value: readonly Value[];
  readonly onChange: (value: readonly Value[]) => void;
  readonly name?: string;
}

/** Several of these. */
export function CheckboxGroup<Value extends string>(props: CheckboxGroupProps<Value>) {
  const { label, hint, error, choices, value, onChange, name } = props;
  return (
    <AriaCheckboxGroup
      name={name}
      value={[...value]}
      // In the order of the choices.
      onChange={(chosen) =>
        onChange(choices.map((each) => each.value).filter((each) => chosen.includes(each)))
      }
      isInvalid={error !== undefined || undefined}
      className="stack gap-1"
    >
      <Label className={styles.label}>{label}</Label>
      {choices.map((choice) => (
        <Checkbox key={choice.value} value={choice.value}>
          {choice.label}
        </Checkbox>
      ))}
      <FieldNotes hint={hint} error={error} />
    </AriaCheckboxGroup>
  );
}

interface SwitchProps extends Omit<AriaSwitchProps, 'className' | 'style' | 'children'> {
  readonly children: ReactNode;
}

/** A setting that takes effect at once. Where a form is sent, it is a `Checkbox`. */
export function Switch({ children, ...props }: SwitchProps) {
  return (
    <AriaSwitch {...props} className={CHECK}>
      <span className={styles.track}>
        <span className={styles.knob} />
      </span>
      {children}
    </AriaSwitch>
  );
}

export type Choice<Value extends string> = { readonly value: Value; readonly label: string };

interface SelectProps<Value extends string> extends FieldTexts {
  readonly choices: readonly Choice<Value>[];
  readonly value: Value | null;
  readonly onChange: (value: Value) => void;
  readonly name?: string;
  readonly isDisabled?: boolean;
  readonly isRequired?: boolean;
  readonly placeholder?: string;
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, hint, error, choices, value, onChange, ...others } = props;
  return (
    <AriaSelect
      {...others}
      value={value}
      onChange={(key) => key !== null && onChange(key as Value)}
      className="stack gap-1"
      isInvalid={error !== undefined || undefined}
    >
      <Label className={styles.label}>{label}</Label>
      <Button className={`${styles.input} ${styles.select} beside gap-2 apart`}>
        <SelectValue className={`${styles.value} cut`}>
          {({ selectedText, defaultChildren }) => selectedText || defaultChildren}
        </SelectValue>
        <Icon name="chevronDown" size={16} />
      </Button>
      <FieldNotes hint={hint} error={error} />
      <Popover className={`${styles.popover} raised`}>
        <ListBox className={styles.options}>
          {choices.map((choice) => (
            <ListBoxItem
              key={choice.value}
              id={choice.value}
              textValue={choice.label}
              className={`${styles.option} beside gap-2`}
            >
              <span className={styles.mark}>
                <Icon name="check" size={14} />
              </span>
              {choice.label}
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}

interface NumberFieldProps
  extends FieldTexts,
    Omit<AriaNumberFieldProps, 'className' | 'style' | 'children'> {}

export function NumberField({ label, hint, error, ...props }: NumberFieldProps) {
  return (
    <AriaNumberField
      {...props}
      className="stack gap-1"
      isInvalid={error !== undefined || undefined}
    >
      <Label className={styles.label}>{label}</Label>
      <Group className={`${styles.group} beside gap-0`}>
        <Input className={styles.input} />
        <Button slot="decrement" className={styles.step}>
          <Icon name="minus" size={14} />
        </Button>
        <Button slot="increment" className={styles.step}>
          <Icon name="plus" size={14} />
        </Button>
      </Group>
      <FieldNotes hint={hint} error={error} />
    </AriaNumberField>
  );
}

interface FilterSelectProps<Value extends string>
  extends Omit<SelectProps<Value>, 'value' | 'onChange'> {
  /** The choice of no filter. */
  readonly all?: string;
  readonly value: Value | undefined;
  readonly onChange: (value: Value | undefined) => void;
}

/** Chooses a filter, or none. */
export function FilterSelect<Value extends string>(props: FilterSelectProps<Value>) {
  const { all = t('All'), choices, value, onChange, ...others } = props;
  return (
    <Select<Value | ''>
      {...others}
      choices={[{ value: '', label: all }, ...choices]}
      value={value ?? ''}
      onChange={(next) => onChange(next === '' ? undefined : next)}
    />
  );
}
