import { type ReactNode, useState } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button, IconButton } from './Button.tsx';
import styles from './Dialog.module.css';
import { errorText } from './ErrorState.tsx';
import { Notice } from './Notice.tsx';

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
            {!keep && <IconButton label="Close" icon="close" onPress={onClose} />}
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

interface ConfirmDialogProps {
  /** A question that names what is concerned, such as "Revoke the key build server?". */
  readonly title: string;
  /** The effect of the action, and what of it cannot be undone. */
  readonly children: ReactNode;
  /** The verb of what is done, such as "Revoke the key". Never "OK". */
  readonly action: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Does it; the dialog closes when it is done, and shows why it failed. */
  readonly onConfirm: () => Promise<unknown>;
}

/** Asks before something that cannot be undone. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, children, action, isOpen, onClose, onConfirm } = props;
  const [isPending, setPending] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const close = () => {
    setFailure(undefined);
    onClose();
  };
  const confirm = async () => {
    setPending(true);
    setFailure(undefined);
    try {
      await onConfirm();
      close();
    } catch (error) {
      setFailure(error);
    } finally {
      setPending(false);
    }
  };
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close}>
      <div className={styles.text}>{children}</div>
      {failure !== undefined && <Notice kind="danger">{errorText(failure)}</Notice>}
      <DialogActions>
        <Button onPress={close}>Cancel</Button>
        <Button look="danger" isPending={isPending} onPress={() => void confirm()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
