import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorState } from './ErrorState.tsx';
import { LonePage } from './LonePage.tsx';

/**
 * Shown where a page could not be loaded or failed while it was drawn. A browser does not ask again for a script that
 * failed, and after an update its name is another, so the whole page is loaded again.
 */
export function PageError({ error }: ErrorComponentProps) {
  return (
    <LonePage title="Not shown" heading="This page cannot be shown">
      <ErrorState error={error} onRetry={() => globalThis.location.reload()} />
    </LonePage>
  );
}
