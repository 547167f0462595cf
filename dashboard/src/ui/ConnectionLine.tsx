import { useEffect, useRef } from 'react';
import { useLiveState, useLiveStream } from '../api/live-conversions.ts';
import styles from './ConnectionLine.module.css';
import { Icon } from './icons.tsx';
import { announce } from './Toasts.tsx';

const TEXTS = {
  lost: 'Connection lost; reconnecting…',
  refused: 'Too many pages are open for live updates. This page asks again by itself.',
} as const;

/** Says while the pages do not hear of changes, and when they do again. */
export function ConnectionLine() {
  useLiveStream();
  const state = useLiveState();
  const wasLost = useRef(false);
  useEffect(() => {
    if (state === 'lost') wasLost.current = true;
    if (state !== 'live' || !wasLost.current) return;
    wasLost.current = false;
    announce('Connected again.');
  }, [state]);
  const text = state === 'lost' || state === 'refused' ? TEXTS[state] : undefined;
  return (
    <div role="status" className={styles.place}>
      {text !== undefined && (
        <p className={styles.line}>
          <Icon name="offline" />
          {text}
        </p>
      )}
    </div>
  );
}
