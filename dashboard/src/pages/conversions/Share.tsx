import { api, dataOf } from '../../api/client.ts';
import { useQuery } from '@tanstack/react-query';
import { oneConversion } from '../../api/conversions.ts';
import { Code } from '../../ui/Code.tsx';
import { DialogButton } from '../../ui/Dialog.tsx';
import { Loaded } from '../../ui/Page.tsx';
import { formatTime } from '../../ui/records.tsx';
import { rich, t } from '../../words/rich.ts';

/** The end of a link, which its token says (PASETO v4.public: a JSON document before a signature of 64 bytes). */
function endOf(link: string): string {
  const signed = new URL(link).searchParams.get('token')?.split('.')[2] ?? '';
  const text = atob(signed.replaceAll('-', '+').replaceAll('_', '/')).slice(0, -64);
  return (JSON.parse(text) as { readonly exp: string }).exp;
}

/** A link by which anybody can download the file for a while. */
export function Share({ id }: { readonly id: string }) {
  return (
    <DialogButton icon="send" text={t('Share')} title={t('Share by a link')}>
      {() => <NewLink id={id} />}
    </DialogButton>
  );
}

/** Each record has a link of its own, so a new one is asked for each time. */
function NewLink({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: [...oneConversion(id), 'link'],
    queryFn: async ({ signal }) => {
      const params = { path: { id } };
      return (
        (await dataOf(api.GET('/api/v1/conversions/{id}/', { params, signal }))).file_url ?? ''
      );
    },
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <Loaded query={query} what={t('the link')} lines={2}>
      {(link) => (
        <>
          <p>
            {rich(
              'Whoever has this link can download the file until {formatTime}, without signing in. The timeline shows each download.',
              { formatTime: formatTime(endOf(link)) },
            )}
          </p>
          <Code code={link} copyLabel={t('Copy the link')} wrap />
        </>
      )}
    </Loaded>
  );
}
