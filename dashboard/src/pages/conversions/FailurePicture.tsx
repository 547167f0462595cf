import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { conversionEventsQuery, deletionOf, pictureQuery } from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { Loaded } from '../../ui/Page.tsx';
import styles from './conversion.module.css';
import { deletionText } from './words.ts';
import { t } from '../../words/words.ts';

/** The page at the moment of its failure, if the log names a picture of it. */
export function FailurePicture({ id }: { readonly id: string }) {
  const { data: events } = useQuery(conversionEventsQuery(id));
  const failure = events?.find(({ type }) => type === 'ConversionFailed');
  if (failure?.data['picture'] === undefined) return null;
  const deletion = deletionOf(events);
  return (
    <>
      <h3>{t('The page when it failed')}</h3>
      {deletion === undefined ? (
        <StoredPicture id={id} />
      ) : (
        <p>{deletionText(t('The picture'), deletion)}</p>
      )}
    </>
  );
}

function StoredPicture({ id }: { readonly id: string }) {
  const query = useQuery(pictureQuery(id));
  const { error } = query;
  if (error instanceof ApiError && error.code === 'gone') return <p>{error.message}</p>;
  return (
    <Loaded query={query} what={t('the picture')} lines={8}>
      {(picture) => (
        <Picture
          picture={picture}
          alt={t('The upper part of the page, as the browser showed it')}
        />
      )}
    </Loaded>
  );
}

interface PictureProps {
  readonly picture: Blob;
  readonly alt: string;
}

/** A picture that the service sent. */
export function Picture({ picture, alt }: PictureProps) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(picture);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [picture]);
  return url && <img src={url} alt={alt} className={styles.picture} />;
}
