import { useState, useSyncExternalStore } from 'react';

/** The width up to which lists are shown as cards, too. */
const NARROW = matchMedia('(max-width: 44rem)');

function subscribe(listener: () => void): () => void {
  NARROW.addEventListener('change', listener);
  return () => NARROW.removeEventListener('change', listener);
}

interface Fold {
  /** False on a wide screen, where everything is shown. */
  readonly canFold: boolean;
  readonly isShown: boolean;
  readonly toggle: () => void;
}

/** A part that a narrow screen shows when a person asks for it. @param isFolded as it is at first */
export function useFold(isFolded: boolean): Fold {
  const canFold = useSyncExternalStore(subscribe, () => NARROW.matches);
  const [isOpen, setOpen] = useState(!isFolded);
  return { canFold, isShown: isOpen || !canFold, toggle: () => setOpen(!isOpen) };
}
