import { useEffect, useState } from 'react';
import styles from './PdfFrame.module.css';

/** Asks viewers that know it for the page in full width, without the column of small pages beside it. */
const VIEW = '#navpanes=0&view=FitH';

export const isPicture = ({ type }: Blob): boolean => type.startsWith('image/');

/** True if this browser shows the file within a page. */
export const canShowFile = (file: Blob): boolean => isPicture(file) || navigator.pdfViewerEnabled;

type PdfFrameProps = { readonly title: string; readonly pdf: Blob };

/** A PDF in the browser's own viewer, or a picture. Phones have no viewer: see `canShowFile`. */
export function PdfFrame({ title, pdf }: PdfFrameProps) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(pdf);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [pdf]);
  if (url === undefined) return null;
  return isPicture(pdf) ? (
    <img alt={title} src={url} className={styles.picture} />
  ) : (
    <iframe title={title} src={url + VIEW} className={styles.pdf} />
  );
}
