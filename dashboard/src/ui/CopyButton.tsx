import { useEffect, useState } from 'react';
import { Button } from './Button.tsx';
import { announce } from './Toasts.tsx';

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
      announce('The browser does not allow copying here. Select the text and copy it.', 'danger');
    }
  };
  return (
    <Button small icon={isCopied ? 'check' : 'copy'} onPress={() => void copy()}>
      <span aria-live="polite">{isCopied ? 'Copied' : label}</span>
    </Button>
  );
}
