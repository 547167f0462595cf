import { useCallback, useRef, useState } from 'react';
import type { Step } from '../proof/steps.ts';
import { assertCanCheck } from './browser.ts';

interface Going {
  readonly status: 'running' | 'ended';
  readonly steps: readonly Step[];
}

export type CheckState =
  | { readonly status: 'idle' }
  | Going
  /** Something prevented the check; what was checked says nothing about the rest. */
  | { readonly status: 'interrupted'; readonly steps: readonly Step[]; readonly error: unknown };

/** Runs a check step by step. A new run takes the place of one that has not ended. */
export function useCheck() {
  const [state, setState] = useState<CheckState>({ status: 'idle' });
  const lastRun = useRef(0);
  const run = useCallback(async (check: () => AsyncIterable<Step>) => {
    lastRun.current += 1;
    const thisRun = lastRun.current;
    const steps: Step[] = [];
    const show = (next: CheckState) => {
      if (thisRun === lastRun.current) setState(next);
    };
    show({ status: 'running', steps: [] });
    try {
      await assertCanCheck();
      for await (const step of check()) {
        steps.push(step);
        show({ status: 'running', steps: [...steps] });
      }
      show({ status: 'ended', steps });
    } catch (error) {
      show({ status: 'interrupted', steps, error });
    }
  }, []);
  return { state, run };
}
