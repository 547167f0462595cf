import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerQuery, api, dataOf, PERSON, queryClient, usePage } from '../../api/client.ts';
import { MEMBERS, type Member, ROLES, type Role, roleName, usePerson } from '../../api/people.ts';
import type { components } from '../../api/schema.d.ts';
import { session } from '../../session/session.ts';
import { Checkbox, Select } from '../../ui/choices.tsx';
import { ConfirmButton, useSecret } from '../../ui/Dialog.tsx';
import { SendForm, TextField, type TextOf } from '../../ui/forms.tsx';
import { FailureNotice, Loaded, Page, Section } from '../../ui/Page.tsx';
import { Badge, type Column, Records } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { useSending } from '../../ui/sending.ts';
import { announce } from '../../ui/Toasts.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

const refresh = async () => {
  await queryClient.invalidateQueries({ queryKey: MEMBERS });
  await queryClient.invalidateQueries({ queryKey: PERSON });
};

const nameOf = ({ name, email }: Member): string => name ?? email ?? t('A removed person');

type RightsProps = Pick<Member, 'role' | 'documents'>;

/** The choice of a role and, of auditors, the right to documents: see `rightsIn`. */
function Rights(before: RightsProps) {
  const [role, setRole] = useState(before.role);
  return (
    <>
      <Select label={t('Role')} name="role" choices={ROLES} value={role} onChange={setRole} />
      {role === 'auditor' && (
        <Checkbox name="documents" defaultSelected={before.documents}>
          {t('May read the text of documents')}
        </Checkbox>
      )}
    </>
  );
}

/** What `Rights` asks for, as the service takes it. */
function rightsIn(textOf: TextOf): { readonly role: Role; readonly documents?: boolean } {
  const { value: role } = ROLES.find(({ value }) => value === textOf('role')) ?? ROLES[1];
  return { role, ...(role === 'auditor' && { documents: textOf('documents') !== '' }) };
}

function InviteSection() {
  const [showSecret, secret] = useSecret();
  const invite = async (textOf: TextOf) => {
    const body = { email: textOf('email').trim(), ...rightsIn(textOf) };
    const invited = await dataOf(api.POST('/api/v1/account/members/', { body }));
    await refresh();
    if (invited.link === null)
      return t('The service mails the link to {email}.', { email: body.email });
    showSecret({
      title: t('The link is made'),
      secret: invited.link,
      what: t('link'),
      children: t(
        'Send it to the person in a way that you trust. Whoever opens it joins as the person with that address.',
      ),
    });
    return undefined;
  };
  return (
    <Section
      title={t('Invite somebody')}
      lead={t(
        'A link lets them join. It works once, within 7 days. The service mails it. Without mail, you hand it over.',
      )}
    >
      <SendForm action={t('Invite')} layout="narrow" onSend={invite}>
        <TextField label={t('Email')} name="email" type="email" autoComplete="off" isRequired />
        <Rights role="member" documents={false} />
      </SendForm>
      {secret}
    </Section>
  );
}

const REQUIREMENTS = [
  { value: 'none', label: t('Nothing more than the password') },
  { value: 'second_factor', label: t('A second factor') },
  { value: 'oidc', label: t('Only the identity provider') },
] as const satisfies readonly { value: Requirement; label: string }[];
type Requirement = components['schemas']['SignInPolicy']['require'];

const POLICY = ['sign-in-policy'];

/** What the account requires of everybody who signs in. */
function PolicySection() {
  const query = useQuery(answerQuery(POLICY, '/api/v1/account/sign-in-policy/'));
  const [chosen, setChosen] = useState<Requirement>();
  const sending = useSending();
  const change = (require: Requirement) => {
    setChosen(require);
    void sending.send(async () => {
      try {
        await dataOf(api.PATCH('/api/v1/account/sign-in-policy/', { body: { require } }));
        announce(t('It applies at once, to everybody.'));
      } finally {
        setChosen(undefined);
        await queryClient.invalidateQueries({ queryKey: POLICY });
      }
    });
  };
  return (
    <Section
      title={t('Signing in')}
      lead={t(
        'What everybody must prove to sign in to this account. Sessions that lack it can only set it up. API keys keep working.',
      )}
    >
      <Loaded query={query} what={t('what is required')} lines={2}>
        {({ require }) => (
          <div className="narrow">
            <Select
              label={t('Required')}
              choices={REQUIREMENTS}
              value={chosen ?? require}
              onChange={change}
              isDisabled={sending.isPending}
            />
          </div>
        )}
      </Loaded>
      {sending.failure !== undefined && <FailureNotice error={sending.failure} />}
    </Section>
  );
}

function Change({ member }: { readonly member: Member }) {
  const change = async (textOf: TextOf) => {
    const params = { path: { id: member.id } };
    const body = rightsIn(textOf);
    await dataOf(api.PATCH('/api/v1/account/members/{id}/', { params, body }));
    return t('{member} is {role} now.', { member: nameOf(member), role: roleName(body.role) });
  };
  return (
    <ConfirmButton
      small
      text={t('Change')}
      actionLook="primary"
      aria-label={t('Change the role of {member}', { member: nameOf(member) })}
      title={t('Change the role of {member}', { member: nameOf(member) })}
      action={t('Change the role')}
      onConfirm={change}
      onClosed={() => void refresh()}
    >
      <Rights {...member} />
    </ConfirmButton>
  );
}

function Remove({ member, isSelf }: { readonly member: Member; readonly isSelf: boolean }) {
  const isInvitation = member.status === 'invited';
  const act = isInvitation ? t('Revoke') : isSelf ? t('Leave') : t('Remove');
  const remove = async () => {
    const params = { path: { id: member.id } };
    await dataOf(api.DELETE('/api/v1/account/members/{id}/', { params }));
    if (isInvitation) return t('The invitation is revoked.');
    if (!isSelf) return t('{member} is removed.', { member: nameOf(member) });
    session.end('ended');
    return undefined;
  };
  return (
    <ConfirmButton
      small
      text={act}
      aria-label={isSelf ? t('Leave the account') : `${act} ${nameOf(member)}`}
      title={isSelf ? t('Leave this account?') : `${act} ${nameOf(member)}?`}
      action={isInvitation ? t('Revoke the invitation') : isSelf ? t('Leave') : t('Remove')}
      onConfirm={remove}
      onClosed={() => void refresh()}
    >
      {isInvitation
        ? t('The link does not work any more.')
        : t('The sessions of this person here and the API keys that they made end at once.')}
    </ConfirmButton>
  );
}

function columnsFor(own: string | undefined, isOwner: boolean): readonly Column<Member>[] {
  return [
    {
      header: t('Person'),
      isRowHeader: true,
      cell: (member) => (
        <>
          <span className="line">
            <bdi>{nameOf(member)}</bdi>
            {member.id === own && <Badge tone="ok" icon="check" text={t('You')} />}
          </span>
          {member.name !== null && member.email !== null && (
            <div className="note">
              <bdi>{member.email}</bdi>
            </div>
          )}
        </>
      ),
    },
    {
      header: t('Role'),
      cell: ({ role, documents }) =>
        role === 'auditor' && documents ? t('auditor, with documents') : roleName(role),
    },
    ...(isOwner
      ? [
          {
            header: t('Second factor'),
            cell: ({ second_factor: has, status }: Member) =>
              status === 'invited' ? '' : has === true ? t('Yes') : t('No'),
          },
        ]
      : []),
    {
      header: t('Since'),
      cell: ({ status, since, expires_at: end }) =>
        status === 'invited' && end !== undefined ? (
          <span>{rich('Invited, until {time}', { time: <Time iso={end} /> })}</span>
        ) : (
          <Time iso={since} />
        ),
    },
    {
      header: t('Actions'),
      isActions: true,
      cell: (member) => (
        <span className="line">
          {isOwner && member.status === 'active' && <Change member={member} />}
          {(isOwner || member.id === own) && <Remove member={member} isSelf={member.id === own} />}
        </span>
      ),
    },
  ];
}

export default function MembersPage() {
  const [page, setPage] = useState(1);
  const person = usePerson().data;
  const isOwner = person?.role === 'owner';
  const list = usePage({
    key: MEMBERS,
    page,
    size: 20,
    ask: (query, signal) => api.GET('/api/v1/account/members/', { params: { query }, signal }),
  });
  return (
    <Page
      title={t('Members')}
      lead={t('Who belongs to this account, and what each of them may do.')}
    >
      <Section title={t('People')}>
        <Records
          list={list}
          of={t('members')}
          label={t('Members')}
          columns={columnsFor(person?.id, isOwner)}
          rowKey={({ id }) => id}
          onPage={setPage}
          empty={undefined}
        />
      </Section>
      {isOwner && <PolicySection />}
      {isOwner && <InviteSection />}
    </Page>
  );
}
