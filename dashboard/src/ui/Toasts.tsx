import { useLayoutEffect, useRef, useSyncExternalStore } from 'react';
import { IconButton } from './Button.tsx';
import { Icon } from './icons.tsx';
import styles from './Toasts.module.css';
import { t } from '../words/words.ts';

type Kind = 'ok' | 'danger';

type Toast = { readonly id: number; readonly text: string; readonly kind: Kind };

const SHOWN_MS = 6000;

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function show(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const dismiss = (id: number): void => show(toasts.filter((toast) => toast.id !== id));

/** Says that something was done, or failed, without moving the focus. Failures stay until dismissed. */
export function announce(text: string, kind: Kind = 'ok'): void {
  lastId += 1;
  const id = lastId;
  show([...toasts, { id, text, kind }]);
  if (kind === 'ok') setTimeout(() => dismiss(id), SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  const place = useRef<HTMLDivElement>(null);
  // A dialog of a narrow screen ends above them.
  useLayoutEffect(() => {
    const height = shown.length === 0 ? 0 : (place.current?.offsetHeight ?? 0);
    document.documentElement.style.setProperty('--toasts', `${height}px`);
  }, [shown]);
  return (
    <div
      ref={place}
      className={`${styles.toasts} stack gap-2`}
      role="status"
      aria-live="polite"
      // Else it were hidden while a dialog is open, and a press in it would close the dialog.
      data-react-aria-top-layer="true"
    >
      {shown.map(({ id, text, kind }) => (
        <div key={id} className={`${styles.toast} raised beside`} data-tone={kind}>
          <Icon name={kind === 'ok' ? 'check' : 'warning'} />
          <span className={`${styles.text} anywhere`}>{text}</span>
          <IconButton label={t('Dismiss')} icon="close" onPress={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
