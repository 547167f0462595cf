import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useDeferredValue } from 'react';
import { type Account, useAccount } from '../api/people.ts';
import { errorText } from '../api/error.ts';
import { Button } from '../ui/Button.tsx';
import { Code } from '../ui/Code.tsx';
import { formatNumber } from '../ui/format.ts';
import { Loaded, Notice, Page, Section } from '../ui/Page.tsx';
import { saveFile } from '../ui/Dialog.tsx';
import { Tabs } from '../ui/Tabs.tsx';
import { fieldsQuery } from './fields-query.ts';
import type { FieldErrors } from './Framed.tsx';
import { OptionGroups } from './OptionGroups.tsx';
import styles from './request.module.css';
import type { Field, RequestName } from './schema.ts';
import type { Values } from './values.ts';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

interface RequestPageProps {
  readonly title: string;
  readonly lead: string;
  /** The request that is edited. */
  readonly request: RequestName;
  readonly children: (account: Account, fields: readonly Field[]) => ReactNode;
}

/** A page for a request, as soon as the account and the fields of the request are there. */
export function RequestPage({ title, lead, request, children }: RequestPageProps) {
  const account = useAccount();
  const fields: UseQueryResult<readonly Field[]> = useQuery(fieldsQuery(request));
  return (
    <Page title={title} lead={lead}>
      <Loaded query={account} what={t('the account')} lines={10}>
        {(owner) => (
          <Loaded query={fields} what={t('the options')} lines={10}>
            {(known) => children(owner, known)}
          </Loaded>
        )}
      </Loaded>
    </Page>
  );
}

/** Says why what the address names is not taken over. */
export function NotTaken({ named, error }: { readonly named?: string; readonly error: unknown }) {
  if (named === undefined || error === null) return null;
  return (
    <Notice kind="danger">
      {rich('{named} could not be loaded. {error}', { named, error: errorText(error) })}
    </Notice>
  );
}

interface WorkbenchProps {
  /** What a person has to know first. */
  readonly notice?: ReactNode;
  /** Brings back what another source took the place of; undefined: there is nothing. */
  readonly undo: (() => void) | undefined;
  readonly source: ReactNode;
  /** The options that go with the source. */
  readonly fields: readonly Field[];
  readonly values: Values;
  readonly onChange: (values: Values) => void;
  readonly onReset: () => void;
  readonly errors: FieldErrors;
  /** What costs a credit, such as "A conversion". */
  readonly paid: string;
  /** Those that the account has; null: the service runs without credits. */
  readonly credits: number | null;
  /** The text of the button that sends the request. */
  readonly action: string;
  readonly isPending: boolean;
  readonly onSend: () => void;
  readonly result: ReactNode;
  /** Drawn after the form, so that typing does not wait for the text in all languages. */
  readonly samples: ReactNode;
}

/** A request that is edited, its result beside it, and the same request in a program. */
export function Workbench(props: WorkbenchProps) {
  const { notice, undo, source, fields, values, onChange, onReset, errors } = props;
  const { paid, credits, action, isPending, onSend, result, samples } = props;
  const shown = useDeferredValue(samples);
  const send = () => {
    if (!isPending && credits !== 0) onSend();
  };
  return (
    <div
      className="stack gap-5"
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send();
      }}
    >
      {notice}
      {undo && (
        <div className="line">
          <Button small icon="history" onPress={undo}>
            {t('Bring back what was here before')}
          </Button>
        </div>
      )}
      <div className={styles.columns}>
        <div className="stack gap-5">{source}</div>
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
        <Section
          title={t('Options')}
          lead={t('Options that are not set have their defaults.')}
          actions={
            <Button small onPress={onReset}>
              {t('Reset')}
            </Button>
          }
        >
          <OptionGroups {...{ fields, values, onChange, errors }} />
        </Section>
      </div>
      <Section
        title={t('The same request in a program')}
        lead={t('Keep an API key in the environment variable PRESSLEDGER_API_KEY.')}
      >
        <div className="stack" aria-busy={shown !== samples}>
          {shown}
        </div>
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
        <div className={`${styles.inline} line`}>
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
