/** Who comes into an account, until it is suspended or erased, as an operator decides it. */
import { api, dataOf, queryClient } from '../../api/client.ts';
import { session } from '../../session/session.ts';
import type { Act, Part, Reason } from '../../ui/acts.tsx';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import { proofIn, TextField, type TextOf } from '../../ui/forms.tsx';
import { Notice } from '../../ui/Page.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { ACCOUNTS, type AccountDetails, type AtAccount } from './operator-api.ts';

/** A reason that must be given: the service says so where it is empty. */
const required = ({ reason = '' }: Reason) => ({ reason });

const aboutPerson = (textOf: TextOf, reason: Reason) => ({
  email: textOf('email').trim(),
  ...required(reason),
  ...proofIn(textOf),
});

export const passwords = ({ account, showSecret }: AtAccount): Part => {
  const asked = {
    fields: (
      <TextField
        label={t('Address of the person')}
        name="email"
        inputMode="email"
        autoComplete="off"
        defaultValue={account.email}
        isRequired
        hint={t("Another member's, where it is not who opened the account.")}
      />
    ),
    asksReason: 'required',
    needsProof: true,
  } as const;
  return {
    title: t('Password and second factor'),
    lead: t(
      'Somebody who has forgotten the password sets another one with a link from you. It works once, within 24 hours.',
    ),
    acts: [
      {
        ...asked,
        text: t('Make a reset link'),
        title: t('Make a link that sets a password?'),
        effect: t(
          'Make sure who is asking. A link that was made before ends. The present password stays valid until the link is used, which ends all sessions.',
        ),
        action: t('Create link'),
        isMild: true,
        send: async (textOf, reason) => {
          const body = aboutPerson(textOf, reason);
          const { link } = await dataOf(api.POST('/api/v1/operator/reset-links/', { body }));
          showSecret({
            title: t('The link is made'),
            secret: link,
            what: t('link'),
            children: rich('Hand it over to {email} in a way that you trust.', {
              email: body.email,
            }),
          });
        },
      },
      {
        ...asked,
        text: t('Remove a second factor'),
        title: t('Remove a second factor that was lost?'),
        effect: t(
          'Make sure who is asking. The authenticator and the recovery codes do not work from then on: the password is enough.',
        ),
        action: t('Remove it'),
        send: async (textOf, reason) => {
          const body = aboutPerson(textOf, reason);
          await dataOf(api.POST('/api/v1/operator/second-factors/remove/', { body }));
          return t('From now on, {email} signs in with only the password.', { email: body.email });
        },
      },
      {
        ...asked,
        fields: (
          <>
            {asked.fields}
            <TextField
              label={t('New address')}
              name="new_email"
              inputMode="email"
              autoComplete="off"
              hint={t('If they are to sign in with another one. Leave it empty otherwise.')}
            />
          </>
        ),
        text: t('Prove the address'),
        title: t('Prove the address of a person?'),
        effect: t(
          'Make sure who it is. If nobody has proven the address before, the password, passkeys, second factor and memberships of the person end. A new address ends all sessions.',
        ),
        action: t('Prove it'),
        send: async (textOf, reason) => {
          const other = textOf('new_email').trim();
          const body = {
            ...aboutPerson(textOf, reason),
            ...(other !== '' && { new_email: other }),
          };
          const sent = api.POST('/api/v1/operator/addresses/prove/', { body });
          const { email, is_first: isFirst } = await dataOf(sent);
          return isFirst
            ? t(
                'The address {email} is proven. What was there before has ended: an owner invites the person again.',
                { email },
              )
            : t('The address {email} is proven.', { email });
        },
      },
    ],
  };
};

const suspend = ({ id, email }: AccountDetails): Act => ({
  title: t('Suspend {email}?', { email }),
  effect: t(
    'Its API keys and sessions are refused at once, until the account is resumed. Links to files that were given out stay valid until they expire.',
  ),
  asksReason: 'required',
  reasonHint: t('The people of the account are told it with each refusal.'),
  action: t('Suspend the account'),
  send: async (_, reason) => {
    const sent = { params: { path: { id } }, body: required(reason) };
    await dataOf(api.POST('/api/v1/operator/accounts/{id}/suspend/', sent));
    return t('The account is suspended.');
  },
});

const resume = ({ id, email }: AccountDetails): Act => ({
  title: t('Resume {email}?', { email }),
  effect: t('Its API keys and sessions work again at once.'),
  action: t('Resume the account'),
  isMild: true,
  asksReason: 'optional',
  send: async (_, body) => {
    const sent = { params: { path: { id } }, body };
    await dataOf(api.POST('/api/v1/operator/accounts/{id}/resume/', sent));
    return t('The account is resumed.');
  },
});

export const suspension = ({ account, isOwn }: AtAccount): Part => ({
  title: t('Suspension'),
  lead: t(
    'Nothing new is accepted from a suspended account, and nobody signs in to it. What was accepted is finished.',
  ),
  state:
    account.suspension === null ? (
      t('The account is not suspended.')
    ) : (
      <Notice kind="warning">
        {rich('The account is suspended since {time}. The reason: {bdi}', {
          time: <Time iso={account.suspension.suspended_at} />,
          bdi: <bdi>{account.suspension.reason}</bdi>,
        })}
      </Notice>
    ),
  holds: account.suspension !== null,
  acts: account.suspension !== null ? [resume(account)] : isOwn ? [] : [suspend(account)],
});

const countText = (sessions: number): string => {
  if (sessions === 0) return t('No session is open.');
  return sessions === 1
    ? t('One session is open.')
    : t('{sessions} sessions are open.', { sessions: formatNumber(sessions) });
};

const endedText = (sessions: number): string => {
  if (sessions === 0) return t('No session was open.');
  return sessions === 1
    ? t('One session has ended.')
    : t('{sessions} sessions have ended.', { sessions: formatNumber(sessions) });
};

export const sessions = ({ account: { id, email, sessions: open }, isOwn }: AtAccount): Part => ({
  title: t('Sessions'),
  state: countText(open),
  acts: [
    {
      title: t('End all sessions of {email}?', { email }),
      effect: rich(
        'Everybody who is signed in to the account is signed out at once{value}. The password and the API keys stay valid.',
        { value: isOwn && t(', also you, here') },
      ),
      action: t('End all sessions'),
      asksReason: 'optional',
      send: async (_, query) => {
        const params = { path: { id }, query };
        const { sessions_ended: ended } = await dataOf(
          api.POST('/api/v1/operator/accounts/{id}/sessions/end/', { params }),
        );
        if (!isOwn) return endedText(ended);
        session.end('all-ended');
        return undefined;
      },
    },
  ],
});

/** Why the account cannot be erased. */
function obstacle({ account, isOwn }: AtAccount): string | undefined {
  if (account.hold !== null) {
    return t('A hold is in force, which keeps the account from being erased. Release it first.');
  }
  return isOwn
    ? t('This is your own account. Another operator can erase it, or pressledger account erase.')
    : undefined;
}

const erasureEffect = (bytes: number) => (
  <>
    <Notice kind="warning">{t('This cannot be undone by anybody.')}</Notice>
    <ul className="bullets">
      <li>{t('All API keys, sessions and links of the account end at once.')}</li>
      <li>{t('Conversions that are not finished fail, and new ones are refused.')}</li>
      <li>
        {rich('All stored documents are deleted: {stored_bytes} of PDFs and requests.', {
          stored_bytes: formatBytes(bytes),
        })}
      </li>
      <li>
        {t(
          'The data key of the account is destroyed: nobody can read its address, names or texts in the log any more.',
        )}
      </li>
      <li>
        {t(
          'The log keeps ids, times, plan, credits, sizes and hashes of PDFs. Copies that customers downloaded, and backups of the keyring, are not reached.',
        )}
      </li>
    </ul>
  </>
);

export const erasure = (at: AtAccount): Part => {
  const { id, email, stored_bytes: bytes } = at.account;
  const reason = obstacle(at);
  return {
    title: t('Erase the account'),
    lead: t('Destroys the account with all its documents, for good.'),
    state:
      reason === undefined ? (
        t('You are told what is destroyed, and asked for your password, before it begins.')
      ) : (
        <Notice kind="warning">{reason}</Notice>
      ),
    acts: [
      {
        look: 'danger',
        icon: 'trash',
        isDisabled: reason !== undefined,
        text: t('Erase the account'),
        title: t('Erase the account of {email}?', { email }),
        effect: erasureEffect(bytes),
        fields: (
          <TextField
            label={t('Address of the account to erase')}
            name="email"
            inputMode="email"
            hint={t('Type it again, whole.')}
            autoComplete="off"
            isRequired
          />
        ),
        needsProof: true,
        action: t('Erase the account for good'),
        send: async (textOf) => {
          const sent = {
            params: { path: { id } },
            body: { email: textOf('email'), ...proofIn(textOf) },
          };
          await dataOf(api.POST('/api/v1/operator/accounts/{id}/erase/', sent));
          at.onErased();
          queryClient.removeQueries({ queryKey: [...ACCOUNTS, 'one', id] });
          return t('The account is erased.');
        },
      },
    ],
  };
};
