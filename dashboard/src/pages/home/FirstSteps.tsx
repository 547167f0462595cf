import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ButtonLink } from '../../ui/Button.tsx';
import { Code } from '../../ui/Code.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Section } from '../../ui/Page.tsx';
import styles from './home.module.css';

interface FirstStepsProps {
  readonly hasKey: boolean;
  readonly hasUsedKey: boolean;
  readonly hasPdf: boolean;
}

/** Waits for the PDF and saves it, so that one command shows the whole service. */
const curlFor = (origin: string): string =>
  [
    `curl -fsS ${origin}/api/v1/pdf/ \\`,
    `  -H 'X-API-Key: YOUR_KEY' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -H 'Prefer: wait=30' -H 'Accept: application/pdf' \\`,
    `  -d '{"html": "<h1>Hello</h1>"}' -o hello.pdf`,
  ].join('\n');

/** The first steps of a new account. A step is ticked by what the account has done. */
export function FirstSteps({ hasKey, hasUsedKey, hasPdf }: FirstStepsProps) {
  const done = [hasKey, hasUsedKey, hasPdf].filter(Boolean).length;
  return (
    <Section title="First steps" lead={`${done} of 3 done.`}>
      <ol className={styles.steps}>
        <Step isDone={hasKey} title="Create a key">
          <p>A key lets your programs use the service. It is shown once.</p>
          <ButtonLink to="/keys" icon="key" look="primary">
            Create a key
          </ButtonLink>
        </Step>
        <Step isDone={hasUsedKey} title="Send a request">
          <p>
            Put your key in the place of YOUR_KEY. The command saves hello.pdf. A key that you have
            lost is never shown again: create another under <Link to="/keys">Keys</Link>.
          </p>
          <Code code={curlFor(location.origin)} copyLabel="Copy the command" />
        </Step>
        <Step isDone={hasPdf} title="Get the first PDF">
          <p>
            It appears on this page as soon as it is made. The playground makes one without a key.
          </p>
          <ButtonLink to="/playground" icon="play">
            Open the playground
          </ButtonLink>
        </Step>
      </ol>
    </Section>
  );
}

interface StepProps {
  readonly isDone: boolean;
  readonly title: string;
  readonly children: ReactNode;
}

function Step({ isDone, title, children }: StepProps) {
  return (
    <li className={styles.step} data-done={isDone}>
      <span className={styles.tick}>
        <Icon name={isDone ? 'check' : 'chevronRight'} size={16} />
      </span>
      <div className={styles.stepText}>
        <h3>
          {title}
          <span className={styles.state}>{isDone ? ' Done' : ''}</span>
        </h3>
        {!isDone && children}
      </div>
    </li>
  );
}
