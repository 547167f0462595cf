import { ButtonLink } from './Button.tsx';
import { LonePage } from './LonePage.tsx';

export function NotFoundPage() {
  return (
    <LonePage title="No such page" heading="There is no such page">
      <p>
        Nothing is at this address of Pressledger. It may be misspelt, or what it showed is gone.
      </p>
      <ButtonLink to="/" look="primary">
        Go to the home page
      </ButtonLink>
    </LonePage>
  );
}
