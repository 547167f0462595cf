import { type ReactNode, useState } from 'react';
import { Button } from '../../ui/Button.tsx';
import { errorText } from '../../ui/ErrorState.tsx';
import type { IconName } from '../../ui/icons.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { announce } from '../../ui/Toasts.tsx';

interface SaveButtonProps {
  readonly icon: IconName;
  readonly look?: 'primary';
  /** Names the file where it could not be saved. */
  readonly what: string;
  readonly load: () => Promise<{ readonly file: Blob; readonly name: string }>;
  readonly children: ReactNode;
}

/** Asks the service for a file when it is pressed, and saves it. */
export function SaveButton({ icon, look, what, load, children }: SaveButtonProps) {
  const [isPending, setPending] = useState(false);
  const save = async () => {
    setPending(true);
    try {
      const { file, name } = await load();
      saveFile(file, name);
    } catch (error) {
      announce(`The ${what} was not downloaded. ${errorText(error)}`, 'danger');
    } finally {
      setPending(false);
    }
  };
  return (
    <Button {...(look && { look })} icon={icon} isPending={isPending} onPress={() => void save()}>
      {children}
    </Button>
  );
}
