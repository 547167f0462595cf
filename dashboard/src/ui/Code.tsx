import { type ReactNode, useEffect, useState } from 'react';
import { Button } from './Button.tsx';
import styles from './Code.module.css';
import { announce } from './Toasts.tsx';
import { t } from '../words/words.ts';

interface CodeProps {
  readonly code: string;
  /** The text of the button, such as "Copy the command". */
  readonly copyLabel: string;
  /** Breaks lines that are too long, for keys and hashes. */
  readonly wrap?: boolean;
  /** The same text as it is shown, such as in colours. */
  readonly children?: ReactNode;
}

/** A text to read sign by sign or to copy. */
export function Code({ code, copyLabel, wrap = false, children = code }: CodeProps) {
  return (
    <figure className={`${styles.figure} card`}>
      <div className={styles.copy}>
        <CopyButton text={code} label={copyLabel} />
      </div>
      {/* Long lines are scrolled, also by the keyboard. */}
      <pre className={styles.code} data-wrap={wrap} tabIndex={wrap ? undefined : 0}>
        <code>{children}</code>
      </pre>
    </figure>
  );
}

const CONFIRMED_MS = 2500;

interface CopyButtonProps {
  readonly text: string;
  /** The text of the button, such as "Copy the key". */
  readonly label: string;
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      // Browsers give the clipboard to pages over HTTPS or of localhost alone.
      announce(
        t('The browser does not allow copying here. Select the text and copy it.'),
        'danger',
      );
    }
  };
  return (
    <Button small icon={isCopied ? 'check' : 'copy'} onPress={() => void copy()}>
      <span aria-live="polite">{isCopied ? t('Copied') : label}</span>
    </Button>
  );
}
