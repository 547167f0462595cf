import {
  Button,
  Group,
  Input,
  Label,
  NumberField as AriaNumberField,
  type NumberFieldProps as AriaNumberFieldProps,
} from 'react-aria-components';
import styles from './forms.module.css';
import { Icon } from './icons.tsx';
import { FieldNotes, type FieldTexts } from './forms.tsx';

interface NumberFieldProps
  extends FieldTexts,
    Omit<AriaNumberFieldProps, 'className' | 'style' | 'children'> {}

export function NumberField({ label, hint, error, ...props }: NumberFieldProps) {
  return (
    <AriaNumberField
      {...props}
      className={styles.field}
      isInvalid={error !== undefined || undefined}
    >
      <Label className={styles.label}>{label}</Label>
      <Group className={styles.group}>
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
