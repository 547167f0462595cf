import { errorText } from '../api/error.ts';
import { Button, type ButtonProps } from './Button.tsx';
import { useSending } from './sending.ts';
import { announce } from './Toasts.tsx';

interface ActButtonProps extends Omit<ButtonProps, 'onPress'> {
  readonly act: () => Promise<unknown>;
  /** Said when it is done. */
  readonly done: string;
  /** Said before the reason, when it is not. */
  readonly failed: string;
  /** Follows in both cases: a refusal may say that what is shown is out of date. */
  readonly after: () => Promise<void>;
}

/** Does something at once that needs no question, and says how it went. */
export function ActButton({ act, done, failed, after, ...props }: ActButtonProps) {
  const { isPending, send } = useSending();
  const press = () =>
    send(async () => {
      try {
        await act();
        announce(done);
      } catch (error) {
        announce(`${failed} ${errorText(error)}`, 'danger');
      }
      await after();
    });
  return <Button {...props} isPending={isPending} onPress={() => void press()} />;
}
