import { type ReactNode, useState } from 'react';
import { type DropItem, DropZone, FileTrigger } from 'react-aria-components';
import type { Row } from '../../request/values.ts';
import { Button } from '../../ui/Button.tsx';
import { counted } from '../../ui/format.ts';
import { FailureNotice } from '../../ui/Page.tsx';
import { Select } from '../../ui/choices.tsx';
import { useSending } from '../../ui/sending.ts';
import { type Contents, contentsOf, type Found, isWanted, openedPage, pagesIn } from './opened.ts';
import styles from './Playground.module.css';
import { t } from '../../words/words.ts';

const NO_PAGE = t('There is no HTML file in it. Open one, or a folder or ZIP that has one.');

/** The files of what was dropped, folders with all that is in them. */
async function* filesIn(
  items: Iterable<DropItem> | AsyncIterable<DropItem>,
  folder = '',
): AsyncGenerator<Found> {
  for await (const item of items) {
    if (item.kind === 'text' || !isWanted(item.name)) continue;
    const path = folder + item.name;
    if (item.kind === 'directory') yield* filesIn(item.getEntries(), `${path}/`);
    else yield { path, file: await item.getFile() };
  }
}

interface OpenPageProps {
  readonly onOpen: (html: string, files: readonly Row[]) => void;
  /** Files can be dropped on it. */
  readonly children: ReactNode;
}

/** Opens an HTML file with what lies beside it: from files, a folder or a ZIP. */
export function OpenPage({ onOpen, children }: OpenPageProps) {
  const [contents, setContents] = useState<Contents>(new Map());
  const [page, setPage] = useState<string | null>(null);
  const [opened, setOpened] = useState('');
  const { failure, send } = useSending();
  const pages = pagesIn(contents);
  const show = (path: string, from: Contents) => {
    const { html, files } = openedPage(from, path);
    setPage(path);
    setOpened(
      t('{path} is opened{value}.', {
        path,
        value:
          files.length === 0
            ? ''
            : t(', with {length} beside it', { length: counted(files.length, 'file') }),
      }),
    );
    onOpen(html, files);
  };
  const open = (found: AsyncIterable<Found> | Iterable<Found>) =>
    void send(async () => {
      const next = await contentsOf(found);
      const [first, ...others] = pagesIn(next);
      if (first === undefined) throw new Error(NO_PAGE);
      setContents(next);
      setPage(null);
      setOpened('');
      if (others.length === 0) show(first, next);
    });
  const choose = (files: FileList | null) => {
    if (files === null || files.length === 0) return;
    const found = [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
    open(found.filter(({ path }) => isWanted(path)));
  };
  return (
    <DropZone
      aria-label={t('Drop an HTML file, a folder or a ZIP here')}
      className={`${styles.drop} stack gap-3`}
      onDrop={({ items }) => open(filesIn(items))}
    >
      <div className="line">
        <FileTrigger acceptedFileTypes={['.html', '.htm', '.zip']} onSelect={choose}>
          <Button small icon="upload">
            {t('Open HTML or ZIP')}
          </Button>
        </FileTrigger>
        <FileTrigger acceptDirectory onSelect={choose}>
          <Button small icon="upload">
            {t('Open a folder')}
          </Button>
        </FileTrigger>
        <span className="note">{t('or drop one on the editor')}</span>
      </div>
      {failure !== undefined && <FailureNotice error={failure} />}
      {pages.length > 1 && (
        <Select
          label={t('Page')}
          hint={t(
            '{length} HTML files were opened. The others lie beside the one that you choose.',
            { length: pages.length },
          )}
          placeholder={t('Choose the page to print')}
          choices={pages.map((path) => ({ value: path, label: path }))}
          value={page}
          onChange={(path) => void send(async () => show(path, contents))}
        />
      )}
      <p role="status" className="note">
        {opened}
      </p>
      {children}
    </DropZone>
  );
}
