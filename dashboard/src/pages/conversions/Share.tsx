import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answerQuery, api, dataOf } from '../../api/client.ts';
import { oneConversion } from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import type { components } from '../../api/schema.d.ts';
import { Select } from '../../ui/choices.tsx';
import { Code } from '../../ui/Code.tsx';
import { ActButton, DialogButton } from '../../ui/Dialog.tsx';
import { SendForm } from '../../ui/forms.tsx';
import { counted } from '../../ui/format.ts';
import { Loaded, Notice } from '../../ui/Page.tsx';
import { formatTime, Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

type ShareLink = components['schemas']['ShareLink'];
type CreatedLink = components['schemas']['CreatedShareLink'];

/** In seconds. */
const PERIODS = [
  { value: '3600', label: t('An hour') },
  { value: '86400', label: t('A day') },
  { value: '604800', label: t('A week') },
] as const;
type Period = (typeof PERIODS)[number]['value'];

/** A conversion has 20 links at most. */
const linksQuery = (id: string) =>
  answerQuery([...oneConversion(id), 'links'], '/api/v1/conversions/{id}/links/', {
    path: { id },
    query: { page_size: 100 },
  });

/** Creates a link. One that would outlast the file expires with it. */
async function createLink(id: string, seconds: number): Promise<CreatedLink> {
  const create = (body: { readonly expires_in?: number }) =>
    dataOf(api.POST('/api/v1/conversions/{id}/links/', { params: { path: { id } }, body }));
  try {
    return await create({ expires_in: seconds });
  } catch (error) {
    if (error instanceof ApiError && 'expires_in' in error.details) return await create({});
    throw error;
  }
}

/** Links by which anybody can download the file for a while. */
export function Share({ id }: { readonly id: string }) {
  return (
    <DialogButton icon="send" text={t('Share')} title={t('Share by a link')}>
      {() => <Links id={id} />}
    </DialogButton>
  );
}

function Links({ id }: { readonly id: string }) {
  const query = useQuery({ ...linksQuery(id), staleTime: 0 });
  const queries = useQueryClient();
  const [period, setPeriod] = useState<Period>('86400');
  const [created, setCreated] = useState<CreatedLink>();
  // The timeline has each act, too.
  const refresh = () => queries.invalidateQueries({ queryKey: oneConversion(id), type: 'active' });
  const create = async () => {
    setCreated(await createLink(id, Number(period)));
    await refresh();
  };
  const revoke = async (link: string) => {
    const params = { path: { id, link_id: link } };
    await dataOf(api.DELETE('/api/v1/conversions/{id}/links/{link_id}/', { params }));
    if (created?.id === link) setCreated(undefined);
  };
  return (
    <>
      <SendForm action={t('Create link')} keeps onSend={create}>
        <Select
          label={t('Valid for')}
          hint={t('At most until the file is deleted.')}
          choices={PERIODS}
          value={period}
          onChange={setPeriod}
        />
      </SendForm>
      {created && (
        <>
          <Notice kind="warning">
            {rich(
              'Anybody with this link can download the file until {time}, without signing in. It is shown only this once.',
              { time: formatTime(created.expires_at) },
            )}
          </Notice>
          <Code code={created.url} copyLabel={t('Copy the link')} wrap />
        </>
      )}
      <Loaded query={query} what={t('the links')} lines={2}>
        {(links) =>
          links.length > 0 && (
            <ul className="stack gap-2" aria-label={t('Links')}>
              {links.map((link) => (
                <OneLink key={link.id} link={link} onRevoke={revoke} after={refresh} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </>
  );
}

interface OneLinkProps {
  readonly link: ShareLink;
  readonly onRevoke: (id: string) => Promise<void>;
  readonly after: () => Promise<void>;
}

function OneLink({ link, onRevoke, after }: OneLinkProps) {
  const { id, created_at: createdAt, expires_at: expiresAt, downloads } = link;
  return (
    <li className="beside gap-3 apart">
      <span>
        {rich('Expires {time}', { time: <Time iso={expiresAt} look="short" /> })}
        <br />
        <span className="note">
          {rich('Created {time}', { time: <Time iso={createdAt} look="short" /> })}
          {`, ${counted(downloads, 'download')}`}
        </span>
      </span>
      <ActButton
        small
        aria-label={t('Revoke the link that expires on {time}', { time: formatTime(expiresAt) })}
        act={() => onRevoke(id)}
        done={t('The link is revoked.')}
        failed={t('The link was not revoked.')}
        after={after}
      >
        {t('Revoke')}
      </ActButton>
    </li>
  );
}
