import { EmptyState } from './EmptyState.tsx';
import { Page } from './Page.tsx';
import { ButtonLink } from './Button.tsx';

export function NotFoundPage() {
  return (
    <Page title="This page does not exist">
      <EmptyState
        icon="search"
        title="There is nothing at this address"
        action={<ButtonLink to="/">Go to the first page</ButtonLink>}
      >
        The address may be misspelt, or what it showed may be gone.
      </EmptyState>
    </Page>
  );
}
