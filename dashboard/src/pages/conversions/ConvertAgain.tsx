import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccount } from '../../api/people.ts';
import { conversionRequestQuery, convertAgain, LISTS, renderAgain } from '../../api/conversions.ts';
import { ACCOUNT } from '../../api/client.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { counted } from '../../ui/format.ts';
import { announce } from '../../ui/Toasts.tsx';
import { t } from '../../words/words.ts';

interface Act {
  readonly icon: 'refresh' | 'shield';
  readonly text: string;
  readonly title: string;
  readonly action: string;
  /** The conversion that it makes is said to have been accepted by this. */
  readonly accepted: string;
  /** @returns the id of the new conversion */
  readonly ask: (id: string, idempotencyKey: string) => Promise<string>;
  readonly explained: string;
}

const AGAIN: Act = {
  icon: 'refresh',
  text: t('Convert again'),
  title: t('Convert again?'),
  action: t('Convert for one credit'),
  accepted: t('The new conversion was accepted. This page shows it.'),
  ask: convertAgain,
  explained: t('This makes a new conversion of the same document with the same options.'),
};

const COMPARED: Act = {
  icon: 'shield',
  text: t('Render again and compare'),
  title: t('Render again and compare?'),
  action: t('Render for one credit'),
  accepted: t(
    'The new conversion was accepted. This page shows it, and later how the PDFs compare.',
  ),
  ask: renderAgain,
  explained: t(
    'This makes a new conversion of the same document with the same options, and says whether its PDF is equal to this one or which pages differ. A web page is fetched again.',
  ),
};

interface ConvertAgainProps {
  readonly id: string;
  /** True: its PDF is compared with that of the first. */
  readonly compares?: boolean;
}

/** Makes a new conversion of the same document with the same options, after saying what it costs. */
export function ConvertAgain({ id, compares = false }: ConvertAgainProps) {
  const { data: request } = useQuery(conversionRequestQuery(id));
  const { data: account } = useAccount();
  const queries = useQueryClient();
  const navigate = useNavigate();
  // One key until the page is left: a press that is sent twice takes one credit.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  // The request is not stored for ever, and there is nothing to send without it.
  if (request === undefined) return null;
  const act = compares ? COMPARED : AGAIN;
  const convert = async () => {
    const made = await act.ask(id, idempotencyKey);
    void queries.invalidateQueries({ queryKey: LISTS });
    void queries.invalidateQueries({ queryKey: ACCOUNT });
    announce(act.accepted);
    await navigate({ to: '/conversions/$id', params: { id: made } });
  };
  return (
    <ConfirmButton
      icon={act.icon}
      text={act.text}
      title={act.title}
      action={act.action}
      actionLook="primary"
      onConfirm={convert}
    >
      <p>
        {act.explained}
        {account?.credits !== null &&
          t(' It costs one credit, which comes back if the conversion fails.')}
        {account &&
          account.credits !== null &&
          t(' The account has {credits} left.', { credits: counted(account.credits, 'credit') })}
      </p>
    </ConfirmButton>
  );
}
