import type { ReactNode } from 'react';
import {
  Checkbox as AriaCheckbox,
  CheckboxGroup as AriaCheckboxGroup,
  type CheckboxProps as AriaCheckboxProps,
  Label,
  Switch as AriaSwitch,
  type SwitchProps as AriaSwitchProps,
} from 'react-aria-components';
import styles from './forms.module.css';
import { Icon } from './icons.tsx';
import type { Choice } from './Select.tsx';
import { FieldNotes, type FieldTexts } from './forms.tsx';

interface CheckboxProps extends Omit<AriaCheckboxProps, 'className' | 'style' | 'children'> {
  readonly children: ReactNode;
}

export function Checkbox({ children, ...props }: CheckboxProps) {
  return (
    <AriaCheckbox {...props} className={styles.check}>
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
      className={styles.field}
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
    <AriaSwitch {...props} className={styles.check}>
      <span className={styles.track}>
        <span className={styles.knob} />
      </span>
      {children}
    </AriaSwitch>
  );
}
