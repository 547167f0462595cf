import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from '../ui/Button.tsx';
import { Code } from '../ui/Code.tsx';
import { formatNumber } from '../ui/format.ts';
import { Section } from '../ui/Page.tsx';
import { saveFile } from '../ui/Dialog.tsx';
import { Tabs } from '../ui/Tabs.tsx';
import styles from './request.module.css';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

interface WorkbenchProps {
  /** What a person has to know first. */
  readonly notice?: ReactNode;
  readonly source: ReactNode;
  readonly options?: ReactNode;
  /** What costs a credit, such as "A conversion". */
  readonly paid: string;
  /** Those that the account has; null: the service runs without credits. */
  readonly credits: number | null;
  /** The text of the button that sends the request. */
  readonly action: string;
  readonly isPending: boolean;
  readonly onSend: () => void;
  readonly result: ReactNode;
  readonly samples: ReactNode;
}

/** A request that is edited, its result beside it, and the same request in a program. */
export function Workbench(props: WorkbenchProps) {
  const { notice, source, options, paid, credits, action, isPending, onSend, result, samples } =
    props;
  const send = () => {
    if (!isPending && credits !== 0) onSend();
  };
  return (
    <div
      className={styles.workbench}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
      }}
    >
      {notice}
      <div className={styles.columns}>
        {source}
        <div className={styles.beside}>
          <Section
            title={t('Result')}
            lead={
              credits === null ? (
                t('{paid} costs nothing.', { paid })
              ) : (
                <>
                  {t('{paid} costs 1 credit. You have {credits}.', {
                    paid,
                    credits: formatNumber(credits),
                  })}{' '}
                  {credits === 0 && <Link to="/usage">{t('See the credits')}</Link>}
                </>
              )
            }
            actions={
              <Button
                look="primary"
                icon="play"
                isPending={isPending}
                isDisabled={credits === 0}
                onPress={send}
              >
                {action}
              </Button>
            }
          >
            {result}
          </Section>
        </div>
        {options}
      </div>
      <Section
        title={t('The same request in a program')}
        lead={t('Keep an API key in the environment variable PRESSLEDGER_API_KEY.')}
      >
        {samples}
      </Section>
    </div>
  );
}

interface CodeSamplesProps {
  readonly samples: readonly {
    readonly id: string;
    readonly title: string;
    readonly code: string;
  }[];
  /** The part of the request that is too long to be shown, and the file that the samples read it from. */
  readonly long:
    | { readonly what: string; readonly file: string; readonly json: string }
    | undefined;
}

/** The request as the source text of programs. */
export function CodeSamples({ samples, long }: CodeSamplesProps) {
  return (
    <>
      {long !== undefined && (
        <div className={styles.inline}>
          <p>
            {rich('{what} too long to be shown here. The samples read it from {code}.', {
              what: long.what,
              code: <code>{long.file}</code>,
            })}
          </p>
          <Button
            small
            icon="download"
            onPress={() => saveFile(new Blob([long.json], { type: 'application/json' }), long.file)}
          >
            {rich('Download {file}', { file: long.file })}
          </Button>
        </div>
      )}
      <Tabs
        label={t('Languages')}
        tabs={samples.map(({ id, title, code }) => ({
          id,
          title,
          content: <Code code={code} copyLabel={t('Copy the {title} sample', { title })} />,
        }))}
      />
    </>
  );
}
