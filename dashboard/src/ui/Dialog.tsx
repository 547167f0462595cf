import { type ReactNode, useState } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button, type ButtonProps, IconButton } from './Button.tsx';
import { Code } from './Code.tsx';
import styles from './Dialog.module.css';
import { FailureNotice, Notice } from './Notice.tsx';
import { saveFile } from './SaveButton.tsx';
import { useSending } from './sending.ts';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

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
      <Modal className={styles.modal}>
        <AriaDialog className={styles.dialog}>
          <header className={styles.header}>
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

/** The buttons at the end of a dialog, the main one last. */
export function DialogActions({ children }: { readonly children: ReactNode }) {
  return <footer className={styles.actions}>{children}</footer>;
}

interface DialogButtonProps extends Omit<ButtonProps, 'children' | 'onPress'> {
  /** The text of the button. */
  readonly text: string;
  /** A question that names what is concerned, such as "Revoke the key build server?". */
  readonly title: string;
  /** What the dialog asks or says. */
  readonly children: (close: () => void) => ReactNode;
  readonly onClosed?: () => void;
}

/** A button that opens a dialog. */
export function DialogButton(props: DialogButtonProps) {
  const { text, title, children, onClosed, ...button } = props;
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

interface ConfirmProps {
  /** The effect of the action, and what of it cannot be undone. */
  readonly children: ReactNode;
  /** The verb of what is done, such as "Revoke the key". Never "OK". */
  readonly action: string;
  readonly actionLook?: 'primary' | 'danger';
  /** The text of the button that leaves all as it is: "Cancel" does not do where something is cancelled. */
  readonly keepText?: string;
  /** Does it; the dialog closes when it is done, and shows why it failed. */
  readonly onConfirm: () => Promise<unknown>;
}

/** A button that asks before something that cannot be undone. */
export function ConfirmButton(props: Omit<DialogButtonProps, 'children'> & ConfirmProps) {
  const { children, action, actionLook, keepText, onConfirm, ...button } = props;
  return (
    <DialogButton {...button}>
      {(close) => (
        <Confirm {...{ action, actionLook, keepText, onConfirm, close }}>{children}</Confirm>
      )}
    </DialogButton>
  );
}

function Confirm(props: ConfirmProps & { readonly close: () => void }) {
  const {
    children,
    action,
    actionLook = 'danger',
    keepText = t('Cancel'),
    onConfirm,
    close,
  } = props;
  const { isPending, failure, send } = useSending();
  const confirm = async () => {
    if (await send(onConfirm)) close();
  };
  return (
    <>
      <div className={styles.text}>{children}</div>
      {failure !== undefined && <FailureNotice error={failure} />}
      <DialogActions>
        <Button onPress={close}>{keepText}</Button>
        <Button look={actionLook} isPending={isPending} onPress={() => void confirm()}>
          {action}
        </Button>
      </DialogActions>
    </>
  );
}

interface SecretDialogProps {
  readonly title: string;
  /** Says what to do with the secret. */
  readonly children: ReactNode;
  /** The secret, and what it is, such as "key". */
  readonly secret: string;
  readonly what: string;
  /** The name of a file to save it in, if that is offered. */
  readonly file?: string;
  readonly onCopied: () => void;
}

/** Shows a secret, which the service never shows again. */
export function SecretDialog(props: SecretDialogProps) {
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
