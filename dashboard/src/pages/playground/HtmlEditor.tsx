import { useEffect, useRef, useState } from 'react';
import { errorText } from '../../api/error.ts';
import { Loading, Notice } from '../../ui/Page.tsx';
import styles from './Playground.module.css';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

interface HtmlEditorProps {
  /** The text at the beginning; afterwards the editor has its own. */
  readonly html: string;
  readonly onChange: (html: string) => void;
}

/** Loads the editor when it is first shown, into a shadow root: its styles need no exception of the CSP there. */
export function HtmlEditor({ html, onChange }: HtmlEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<unknown>();
  const [isLoaded, setLoaded] = useState(false);
  const change = useRef(onChange);
  change.current = onChange;
  const start = useRef(html);
  useEffect(() => {
    const { current: element } = host;
    if (element === null) return undefined;
    let isGone = false;
    let end: (() => void) | undefined;
    const mount = async () => {
      const { mountEditor } = await import('./html-editor.ts');
      if (isGone) return;
      end = mountEditor(element, {
        text: start.current,
        onChange: (text) => {
          start.current = text;
          change.current(text);
        },
      });
      setLoaded(true);
    };
    mount().catch(setFailure);
    return () => {
      isGone = true;
      end?.();
    };
  }, []);
  return (
    <>
      {failure !== undefined && (
        <Notice kind="danger">
          {rich('The editor could not be loaded. {failure}', { failure: errorText(failure) })}
        </Notice>
      )}
      {!isLoaded && failure === undefined && <Loading label={t('Loading the editor')} lines={8} />}
      <div ref={host} className={styles.editor} data-loaded={isLoaded} />
    </>
  );
}
