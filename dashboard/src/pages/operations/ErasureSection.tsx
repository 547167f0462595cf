import { useState } from 'react';
import { useAccount } from '../../api/account.ts';
import { Button } from '../../ui/Button.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { EraseDialog } from './EraseDialog.tsx';
import type { AccountDetails } from './operator-api.ts';

interface ErasureSectionProps {
  readonly account: AccountDetails;
  readonly onErased: () => void;
}

/** Why the account cannot be erased. */
function obstacle({ hold }: AccountDetails, isOwn: boolean): string | undefined {
  if (hold !== null) {
    return 'A hold is in force, which keeps the account from being erased. Release it first.';
  }
  return isOwn
    ? 'This is your own account. Another operator can erase it, or pressledger account erase.'
    : undefined;
}

export function ErasureSection({ account, onErased }: ErasureSectionProps) {
  const [isErasing, setErasing] = useState(false);
  const isOwn = useAccount().data?.id === account.id;
  const reason = obstacle(account, isOwn);
  return (
    <Section
      title="Erase the account"
      lead="Destroys the account with all its documents, for good."
      actions={
        <Button
          look="danger"
          icon="trash"
          isDisabled={reason !== undefined}
          onPress={() => setErasing(true)}
        >
          Erase the account
        </Button>
      }
    >
      {reason === undefined ? (
        <p>You are told what is destroyed, and asked for your password, before it begins.</p>
      ) : (
        <Notice kind="warning">{reason}</Notice>
      )}
      <EraseDialog
        account={account}
        isOpen={isErasing}
        onClose={() => setErasing(false)}
        onErased={onErased}
      />
    </Section>
  );
}
