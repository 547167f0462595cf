/** Signs in with a passkey: by its button, or from the list that the browser shows at the field of the address. */
import { useEffect, useRef } from 'react';
import { fillsInPasskeys, type UsedPasskey, usePasskey, whyNone } from '../../api/passkeys.ts';
import { passkeyOptions } from '../../api/without-sign-in.ts';
import { session } from '../../session/session.ts';
import { Button } from '../../ui/Button.tsx';
import { FailureNotice } from '../../ui/Notice.tsx';
import { useSending } from '../../ui/sending.ts';
import { t } from '../../words/words.ts';

/** The service takes an answer for five minutes. */
const RENEWED_AFTER_MS = 4 * 60 * 1000;

/** Waits until a passkey is chosen in the browser's list. @returns undefined where it is time for other options */
async function chosen(signal: AbortSignal): Promise<UsedPasskey | undefined> {
  const ends = AbortSignal.any([signal, AbortSignal.timeout(RENEWED_AFTER_MS)]);
  try {
    return await usePasskey(await passkeyOptions(), { mediation: 'conditional', signal: ends });
  } catch (error) {
    if (!ends.aborted) throw error;
    return undefined;
  }
}

/** Offers passkeys in the browser's list until one has signed in. @param sign says whether it has */
async function fillIn(signal: AbortSignal, sign: (passkey: UsedPasskey) => Promise<boolean>) {
  if (!(await fillsInPasskeys())) return;
  while (!signal.aborted) {
    const passkey = await chosen(signal);
    if (passkey !== undefined && (await sign(passkey))) return;
  }
}

export function PasskeySignIn({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const { isPending, failure, send } = useSending();
  const filling = useRef<AbortController>(undefined);
  const sign = async (passkey: UsedPasskey) => {
    await session.signInWithPasskey(passkey);
    onSignedIn();
  };
  const begin = () => {
    const controller = new AbortController();
    filling.current = controller;
    // Nobody has asked for it: without it, the button and the password are there.
    fillIn(controller.signal, (passkey) => send(() => sign(passkey))).catch(() => {});
  };
  // oxlint-disable-next-line react/exhaustive-deps -- once, while the page is shown
  useEffect(() => {
    begin();
    return () => filling.current?.abort();
  }, []);
  if (whyNone() !== undefined) return null;
  const press = () =>
    send(async () => {
      // A browser asks one thing at a time.
      filling.current?.abort();
      try {
        await sign(await usePasskey(await passkeyOptions()));
      } catch (error) {
        begin();
        throw error;
      }
    });
  return (
    <>
      {failure !== undefined && <FailureNotice error={failure} />}
      <Button isPending={isPending} onPress={() => void press()}>
        {t('Sign in with a passkey')}
      </Button>
    </>
  );
}
