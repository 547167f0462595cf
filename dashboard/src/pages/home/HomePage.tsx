import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { keysQuery, useAccount, usePerson, useRights } from '../../api/people.ts';
import { conversionsQuery } from '../../api/conversions.ts';
import { RENEWED } from '../../api/live-conversions.ts';
import { Button, ButtonLink } from '../../ui/Button.tsx';
import { counted, planName } from '../../ui/format.ts';
import { EmptyState, Loaded, Notice, Page, Section } from '../../ui/Page.tsx';
import { Step, Steps } from '../../ui/Steps.tsx';
import { Table } from '../../ui/records.tsx';
import { CONVERSIONS_TABLE } from '../conversions/ConversionTable.tsx';
import { Attention } from './Attention.tsx';
import { RecentUsage } from './RecentUsage.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { Code } from '../../ui/Code.tsx';
import { kept } from '../../ui/kept.ts';

const RECENT = 5;
export default function HomePage() {
  const { data: account } = useAccount();
  const { data: person } = usePerson();
  const { mayWork } = useRights();
  const keys = useQuery({ ...keysQuery, ...RENEWED });
  const recent = useQuery({ ...conversionsQuery({}, { size: RECENT }), ...RENEWED });
  const completed = useQuery({
    ...conversionsQuery({ status: 'completed' }, { size: 1 }),
    ...RENEWED,
  });
  const queries = [keys, recent, completed];
  const isNew = recent.data?.total === 0;
  const state = {
    error: keys.error ?? recent.error ?? completed.error,
    refetch: () => Promise.all(queries.map((query) => query.refetch())),
    data: keys.data &&
      recent.data &&
      completed.data && { keys: keys.data, recent: recent.data, completed: completed.data },
  };
  return (
    <Page
      title={t('Home')}
      lead={
        account && (
          <>
            {rich('{plan} plan{value}.', {
              plan: planName(account.plan),
              value: account.credits !== null && (
                <>
                  ,{' '}
                  <Link to="/usage">
                    {rich('{credits} left', { credits: counted(account.credits, 'credit') })}
                  </Link>
                </>
              ),
            })}
          </>
        )
      }
      actions={
        mayWork && (
          <ButtonLink to="/playground" icon="plus" look={isNew ? 'secondary' : 'primary'}>
            {t('Open the playground')}
          </ButtonLink>
        )
      }
    >
      <Loaded query={state} what={t('the state of the account')} lines={10}>
        {(loaded) => {
          const steps = {
            hasKey: loaded.keys.length > 0,
            hasUsedKey: loaded.keys.some(({ last_used_at: at }) => at !== null),
            hasPdf: loaded.completed.total > 0,
          };
          const hasAllSteps = Object.values(steps).every(Boolean);
          return (
            <>
              {person?.operator === true && (
                <OperatorsNext actsAlready={person.acts_as_operator} hasAllSteps={hasAllSteps} />
              )}
              {mayWork && !hasAllSteps && <FirstSteps {...steps} />}
              <Attention keys={loaded.keys} account={account} isNew={isNew} />
              {isNew ? (
                <div className="card">
                  <EmptyState icon="chart" title={t('No conversions yet')}>
                    {t(
                      'Conversions, what needs attention and the usage of the last days appear here.',
                    )}
                  </EmptyState>
                </div>
              ) : (
                <>
                  <section className="stack gap-3">
                    <header className="line apart">
                      <h2>{t('Recent conversions')}</h2>
                      <ButtonLink to="/conversions" small>
                        {t('All conversions')}
                      </ButtonLink>
                    </header>
                    <Table {...CONVERSIONS_TABLE} rows={loaded.recent.items} />
                  </section>
                  <RecentUsage />
                </>
              )}
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

interface OperatorsNextProps {
  /** The first password was changed. */
  readonly actsAlready: boolean;
  readonly hasAllSteps: boolean;
}

/** Leads an operator from the first password to the pages for operators. */
function OperatorsNext({ actsAlready, hasAllSteps }: OperatorsNextProps) {
  if (!actsAlready) {
    return (
      <Notice kind="warning">
        {rich(
          '<link>Change the first password</link> to open the pages for operators. There you add credits, and open an account for each customer.',
          { link: <Link to="/account" /> },
        )}
      </Notice>
    );
  }
  if (hasAllSteps) return null;
  return (
    <Notice kind="info">
      {rich(
        'You are an operator of this service. Under <link>Accounts</link> you add credits, and open an account for each customer.',
        { link: <Link to="/operations/accounts" search={{}} /> },
      )}
    </Notice>
  );
}

interface FirstStepsProps {
  readonly hasKey: boolean;
  readonly hasUsedKey: boolean;
  readonly hasPdf: boolean;
}

/** Waits for the PDF and saves it, so that one command shows the whole service. */
const curlFor = (origin: string): string =>
  [
    t('curl -fsS {origin}/api/v1/pdf/ \\', { origin }),
    `  -H 'X-API-Key: YOUR_KEY' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -H 'Prefer: wait=30' -H 'Accept: application/pdf' \\`,
    `  -d '{"html": "<h1>Hello</h1>"}' -o hello.pdf`,
  ].join('\n');

/** The first steps of a new account. A step is ticked by what the account has done. */
export function FirstSteps({ hasKey, hasUsedKey, hasPdf }: FirstStepsProps) {
  const [isHidden, setHidden] = useState(() => kept.read('first-steps') === 'hidden');
  const done = [hasKey, hasUsedKey, hasPdf].filter(Boolean).length;
  if (isHidden) return null;
  const hide = () => {
    kept.write('first-steps', 'hidden');
    setHidden(true);
  };
  return (
    <Section
      title={t('First steps')}
      lead={t('{done} of 3 done.', { done })}
      actions={
        <Button small onPress={hide}>
          {t('Hide')}
        </Button>
      }
    >
      <Steps>
        <FirstStep isDone={hasKey} title={t('Create a key')}>
          <p>{t('A key lets your programs use the service. It is shown once.')}</p>
          <ButtonLink to="/keys" icon="key" look="primary">
            {t('Create a key')}
          </ButtonLink>
        </FirstStep>
        <FirstStep isDone={hasUsedKey} title={t('Send a request')}>
          <p>
            {rich(
              'Put your key in the place of YOUR_KEY. The command saves hello.pdf. A key that you have lost is never shown again: create another under <link>Keys</link>.',
              { link: <Link to="/keys" /> },
            )}
          </p>
          <Code code={curlFor(location.origin)} copyLabel={t('Copy the command')} />
        </FirstStep>
        <FirstStep isDone={hasPdf} title={t('Get the first PDF')}>
          <p>
            {t(
              'It appears on this page as soon as it is made. The playground makes one without a key.',
            )}
          </p>
          <ButtonLink to="/playground" icon="play">
            {t('Open the playground')}
          </ButtonLink>
        </FirstStep>
      </Steps>
    </Section>
  );
}

interface FirstStepProps {
  readonly isDone: boolean;
  readonly title: string;
  readonly children: ReactNode;
}

function FirstStep({ isDone, title, children }: FirstStepProps) {
  return (
    <Step look={isDone ? 'holds' : 'next'} title={title} word={isDone ? t('Done') : ''}>
      {!isDone && children}
    </Step>
  );
}
