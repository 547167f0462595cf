import {
  Button,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select as AriaSelect,
  SelectValue,
} from 'react-aria-components';
import styles from './forms.module.css';
import { Icon } from './icons.tsx';
import { FieldNotes, type FieldTexts } from './forms.tsx';

export interface Choice<Value extends string> {
  readonly value: Value;
  readonly label: string;
}

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
      className={styles.field}
      isInvalid={error !== undefined || undefined}
    >
      <Label className={styles.label}>{label}</Label>
      <Button className={`${styles.input} ${styles.select}`}>
        <SelectValue className={styles.value}>
          {({ selectedText, defaultChildren }) => selectedText || defaultChildren}
        </SelectValue>
        <Icon name="chevronDown" size={16} />
      </Button>
      <FieldNotes hint={hint} error={error} />
      <Popover className={styles.popover}>
        <ListBox className={styles.options}>
          {choices.map((choice) => (
            <ListBoxItem
              key={choice.value}
              id={choice.value}
              textValue={choice.label}
              className={styles.option}
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
