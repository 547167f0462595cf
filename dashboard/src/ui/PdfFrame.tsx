import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { pictureQuery } from '../api/conversions.ts';
import styles from './PdfFrame.module.css';
import { t } from '../words/words.ts';

/** Asks viewers that know it for the page in full width, without the column of small pages beside it. */
const VIEW = '#navpanes=0&view=FitH';

export const isPicture = ({ type }: Blob): boolean => type.startsWith('image/');

/** The address of a file while it is shown. */
function useAddress(file: Blob): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url;
}

export function PictureFrame({ alt, picture }: { readonly alt: string; readonly picture: Blob }) {
  const url = useAddress(picture);
  return url && <img alt={alt} src={url} className={styles.picture} />;
}

interface PdfFrameProps {
  /** The conversion that made it. */
  readonly id: string;
  readonly title: string;
  readonly pdf: Blob;
}

/** A PDF in the browser's own viewer. Where it has none, as on many phones, the picture of the first page opens the PDF. */
export function PdfFrame({ id, title, pdf }: PdfFrameProps) {
  const url = useAddress(pdf);
  const hasViewer = navigator.pdfViewerEnabled;
  const { data: first } = useQuery({ ...pictureQuery(id, 'thumbnail'), enabled: !hasViewer });
  if (url === undefined) return null;
  if (hasViewer) return <iframe title={title} src={url + VIEW} className={styles.pdf} />;
  return (
    <>
      <p className="note">
        {t('This browser shows no PDF within a page. Open it in a window of its own.')}
      </p>
      <a href={url} target="_blank" rel="noreferrer" className="stack gap-2 start">
        {first && <PictureFrame alt={t('The first page of the PDF')} picture={first} />}
        {t('Open the PDF')}
      </a>
    </>
  );
}
