import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import styles from './Button.module.css';
import { Icon, type IconName } from './icons.tsx';

type Look = 'primary' | 'secondary' | 'quiet' | 'danger';

interface Shown {
  /** The one main action of a page or dialog is `primary`; one that cannot be undone is `danger`. */
  readonly look?: Look;
  readonly icon?: IconName;
  readonly small?: boolean;
}

export interface ButtonProps
  extends Shown,
    Omit<AriaButtonProps, 'className' | 'style' | 'children'> {
  readonly children: ReactNode;
}

const classes = ({ look = 'secondary', small = false }: Shown): string =>
  [styles.button, styles[look], small ? styles.small : ''].join(' ');

/** While `isPending` it stays in place and takes no further press. */
export function Button({ look, icon, small, children, ...props }: ButtonProps) {
  return (
    <AriaButton {...props} className={classes({ look, small })}>
      {icon !== undefined && <Icon name={icon} size={16} />}
      {children}
    </AriaButton>
  );
}

interface IconButtonProps extends Omit<AriaButtonProps, 'className' | 'style' | 'children'> {
  /** Read out by screen readers, and shown while the pointer rests on the button. */
  readonly label: string;
  readonly icon: IconName;
}

export function IconButton({ label, icon, ...props }: IconButtonProps) {
  return (
    <span title={label} className={styles.tip}>
      <AriaButton {...props} aria-label={label} className={`${styles.button} ${styles.iconOnly}`}>
        <Icon name={icon} />
      </AriaButton>
    </span>
  );
}

interface AnchorProps extends Shown, AnchorHTMLAttributes<HTMLAnchorElement> {
  readonly ref?: Ref<HTMLAnchorElement>;
}

/** A link to a file or to another site that looks like a button. */
export function ButtonAnchor({ look, icon, small, children, ...props }: AnchorProps) {
  return (
    <a {...props} className={classes({ look, small })}>
      {icon !== undefined && <Icon name={icon} size={16} />}
      {children}
    </a>
  );
}

/** A link to another page that looks like a button. */
export const ButtonLink = createLink(ButtonAnchor);
