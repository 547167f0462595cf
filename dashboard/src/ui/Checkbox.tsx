import type { ReactNode } from 'react';
import {
  Checkbox as AriaCheckbox,
  type CheckboxProps as AriaCheckboxProps,
  Switch as AriaSwitch,
  type SwitchProps as AriaSwitchProps,
} from 'react-aria-components';
import styles from './fields.module.css';
import { Icon } from './icons.tsx';

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
