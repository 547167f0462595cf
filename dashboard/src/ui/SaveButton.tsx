import { errorText } from '../api/error.ts';
import { Button, type ButtonProps } from './Button.tsx';
import { useSending } from './sending.ts';
import { announce } from './Toasts.tsx';
import { t } from '../words/words.ts';

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
  const { isPending, send } = useSending();
  const save = () =>
    send(async () => {
      try {
        const { file, name } = await load();
        saveFile(file, name);
      } catch (error) {
        announce(
          t('The {what} was not downloaded. {error}', { what, error: errorText(error) }),
          'danger',
        );
      }
    });
  return <Button {...props} isPending={isPending} onPress={() => void save()} />;
}
