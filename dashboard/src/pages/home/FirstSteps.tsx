import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { Button, ButtonLink } from '../../ui/Button.tsx';
import { Code } from '../../ui/Code.tsx';
import { Section } from '../../ui/Page.tsx';
import { kept } from '../../ui/kept.ts';
import { Step, Steps } from '../../ui/Steps.tsx';
import { rich, t } from '../../words/rich.ts';

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
