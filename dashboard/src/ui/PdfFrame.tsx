import { useEffect, useState } from 'react';
import styles from './PdfFrame.module.css';

/** Asks viewers that know it for the page in full width, without the column of small pages beside it. */
const VIEW = '#navpanes=0&view=FitH';

interface PdfFrameProps {
  readonly title: string;
  readonly pdf: Blob;
}

/** A PDF in the browser's own viewer. Phones have none: see `navigator.pdfViewerEnabled`. */
export function PdfFrame({ title, pdf }: PdfFrameProps) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(pdf);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [pdf]);
  return url && <iframe title={title} src={url + VIEW} className={styles.pdf} />;
}
