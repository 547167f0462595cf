import { type ReactNode, useState } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { fetchSignedIn } from '../api/client.ts';
import { ApiError, errorText } from '../api/error.ts';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';
import { Button, type ButtonProps, IconButton } from './Button.tsx';
import { Code } from './Code.tsx';
import styles from './Dialog.module.css';
import { DialogActions, SendForm } from './forms.tsx';
import { Notice } from './Page.tsx';
import { useSending } from './sending.ts';
import { announce } from './Toasts.tsx';

interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** A dialog whose content is lost with it is closed by its buttons alone. */
  readonly keep?: boolean;
  readonly children: ReactNode;
}

export function Dialog({ title, isOpen, onClose, keep = false, children }: DialogProps) {
  return (
    <ModalOverlay
      className={styles.overlay}
      isOpen={isOpen}
      isDismissable={!keep}
      isKeyboardDismissDisabled={keep}
      onOpenChange={(open) => !open && onClose()}
    >
      <Modal className={`${styles.modal} raised`}>
        <AriaDialog className={`${styles.dialog} stack`}>
          <header className={`${styles.header} beside apart top`}>
            <Heading slot="title" className={styles.title}>
              {title}
            </Heading>
            {!keep && <IconButton label={t('Close')} icon="close" onPress={onClose} />}
          </header>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface DialogButtonProps extends Omit<ButtonProps, 'children' | 'onPress'> {
  /** The text of the button. */
  readonly text: string;
  /** A question that names what is concerned, such as "Revoke the key build server?"; without one, the text. */
  readonly title?: string;
  /** What the dialog asks or says. */
  readonly children: (close: () => void) => ReactNode;
  readonly onClosed?: () => void;
}

/** A button that opens a dialog. */
export function DialogButton(props: DialogButtonProps) {
  const { text, title = text, children, onClosed, ...button } = props;
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    onClosed?.();
  };
  return (
    <>
      <Button {...button} onPress={() => setOpen(true)}>
        {text}
      </Button>
      <Dialog title={title} isOpen={isOpen} onClose={close}>
        {children(close)}
      </Dialog>
    </>
  );
}

type FormProps = Parameters<typeof SendForm>[0];

interface ConfirmProps extends Pick<FormProps, 'keepText' | 'children'> {
  /** The text of the button that does it; without it, that of the button that asks. */
  readonly action?: string;
  readonly actionLook?: FormProps['look'];
  /** Does it; the dialog closes when it is done, and shows why it failed. A text that it resolves to is announced. */
  readonly onConfirm: FormProps['onSend'];
}

/** A button that asks before it acts: for what cannot be undone, or for what it needs, by the fields of a form. */
export function ConfirmButton(props: Omit<DialogButtonProps, 'children'> & ConfirmProps) {
  const {
    children,
    action = props.text,
    actionLook = 'danger',
    keepText,
    onConfirm,
    ...button
  } = props;
  return (
    <DialogButton {...button}>
      {(close) => (
        <SendForm
          action={action}
          look={actionLook}
          onCancel={close}
          {...(keepText !== undefined && { keepText })}
          onSend={async (...fields) => {
            const done = await onConfirm(...fields);
            close();
            return done;
          }}
        >
          {children}
        </SendForm>
      )}
    </DialogButton>
  );
}

export interface SecretProps {
  readonly title: string;
  /** Says what to do with the secret. */
  readonly children: ReactNode;
  /** The secret, and what it is, such as "key". */
  readonly secret: string;
  readonly what: string;
  /** The name of a file to save it in, if that is offered. */
  readonly file?: string;
  readonly onCopied?: () => void;
}

/** Shows secrets, which the service never shows again. @returns what shows one, and the dialog, for the page */
export function useSecret() {
  const [shown, setShown] = useState<SecretProps>();
  const close = () => {
    setShown(undefined);
    shown?.onCopied?.();
  };
  return [setShown, shown && <SecretDialog {...shown} onCopied={close} />] as const;
}

function SecretDialog(props: Required<Pick<SecretProps, 'onCopied'>> & SecretProps) {
  const { title, children, secret, what, file, onCopied } = props;
  return (
    <Dialog title={title} isOpen onClose={onCopied} keep>
      <Notice kind="warning">{rich('{children} It is shown only this once.', { children })}</Notice>
      <Code code={secret} copyLabel={t('Copy the {what}', { what })} wrap />
      <DialogActions>
        {file !== undefined && (
          <Button onPress={() => saveFile(new Blob([`${secret}\n`]), file)}>{t('Download')}</Button>
        )}
        <Button look="primary" onPress={onCopied}>
          {rich('I have copied the {what}', { what })}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

interface ActButtonProps extends Omit<ButtonProps, 'onPress'> {
  readonly act: () => Promise<unknown>;
  /** Said when it is done, where nobody sees it by itself. */
  readonly done?: string;
  /** Said before the reason, when it is not. */
  readonly failed: string;
  /** Follows in both cases: a refusal may say that what is shown is out of date. */
  readonly after?: () => Promise<void>;
}

/** Does something at once that needs no question, and says how it went. */
export function ActButton({ act, done, failed, after, ...props }: ActButtonProps) {
  const { isPending, send } = useSending();
  const press = () =>
    send(async () => {
      try {
        await act();
        if (done !== undefined) announce(done);
      } catch (error) {
        announce(`${failed} ${errorText(error)}`, 'danger');
      }
      await after?.();
    });
  return <Button {...props} isPending={isPending} onPress={() => void press()} />;
}

/** How long a browser may need to begin to save. */
const KEEP_MS = 60_000;

/** Saves a file that the page holds, as a link with `download` would. */
export function saveFile(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), KEEP_MS);
}

interface SaveButtonProps extends Omit<ButtonProps, 'onPress'> {
  /** Names the file where it could not be saved. */
  readonly what: string;
  readonly load: () => Promise<{ readonly file: Blob; readonly name: string }>;
}

/** Asks the service for a file when it is pressed, and saves it. */
export function SaveButton({ what, load, ...props }: SaveButtonProps) {
  const act = async () => {
    const { file, name } = await load();
    saveFile(file, name);
  };
  return <ActButton {...props} act={act} failed={t('The {what} was not downloaded.', { what })} />;
}

interface ExportButtonProps {
  /** The path of the API, with its query. */
  readonly path: string;
  readonly fileName: string;
  /** The name of the exported list, such as "ledger". */
  readonly what: string;
}

/** Downloads a list of the API as CSV. A link could not send the credential. */
export function ExportButton({ path, fileName, what }: ExportButtonProps) {
  const load = async () => {
    const headers = { Accept: 'text/csv' };
    const response = await fetchSignedIn(new Request(new URL(path, location.origin), { headers }));
    if (!response.ok) throw await ApiError.from(response);
    return { file: await response.blob(), name: fileName };
  };
  return (
    <SaveButton
      small
      icon="download"
      aria-label={t('Export as CSV: the {what}', { what })}
      what={what}
      load={load}
    >
      {t('Export as CSV')}
    </SaveButton>
  );
}
