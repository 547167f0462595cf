import { t } from '../../words/words.ts';

/** What it means that a key is revoked. */
export const Revocation = () => (
  <>
    <p>
      {t(
        'Requests with this key are refused at once, with status 401. Programs that still use it stop working until they are given another.',
      )}
    </p>
    <p>
      {t('Conversions that it requested are not touched. A revoked key cannot be brought back.')}
    </p>
  </>
);
