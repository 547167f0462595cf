/** Dialogs and windows that a page opens before its own: each is answered or closed at once. */
import type { Connection, EventParams } from './connection.ts';

const TIMEOUT_MS = 1_000;

export interface InterruptedTab {
  readonly contextId: string;
  readonly targetId: string;
  readonly sessionId: string;
  /** Called for each that may leave something behind. */
  readonly onTaint: () => void;
}

/** @returns the functions that end it */
export function endInterruptions(
  connection: Connection,
  { contextId, targetId: own, sessionId, onTaint }: InterruptedTab,
): readonly (() => void)[] {
  const answer = ({ type }: EventParams<'Page.javascriptDialogOpening'>): void => {
    if (type !== 'beforeunload') onTaint();
    // A page may not keep itself from being left; every other question is answered with no.
    const params = { accept: type === 'beforeunload' };
    connection.send('Page.handleJavaScriptDialog', params, TIMEOUT_MS, sessionId).catch(() => {});
  };
  const close = ({ targetInfo }: EventParams<'Target.targetCreated'>): void => {
    const { type, targetId, browserContextId } = targetInfo;
    if (browserContextId !== contextId || targetId === own) return;
    // Nobody knows for sure when frames and workers have ended, either.
    onTaint();
    if (type !== 'page') return;
    connection.send('Target.closeTarget', { targetId }, TIMEOUT_MS).catch(() => {});
  };
  return [
    connection.on('Page.javascriptDialogOpening', answer, sessionId),
    connection.on('Target.targetCreated', close, sessionId),
  ];
}
