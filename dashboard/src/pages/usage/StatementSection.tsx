/** The statement of a month that is over, as a PDF. */
import { useState } from 'react';
import { fetchSignedIn } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { Section } from '../../ui/Page.tsx';
import { SaveButton } from '../../ui/Dialog.tsx';
import { Select } from '../../ui/Select.tsx';
import { t } from '../../words/words.ts';

const MONTHS = 24;

/** The months that are over since the account was opened, such as 2026-10, the newest first. */
function monthsSince(since: string, now: Date): readonly string[] {
  const months = Array.from({ length: MONTHS }, (_, ago) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1 - ago)).toISOString().slice(0, 7),
  );
  return months.filter((month) => month >= since.slice(0, 7));
}

export function StatementSection({ since }: { readonly since: string }) {
  const [months] = useState(() => monthsSince(since, new Date()));
  const [month = '', setMonth] = useState(months[0]);
  const load = async () => {
    const request = new Request(new URL('/api/v1/usage/statements/', location.origin), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/pdf',
        Prefer: 'wait=30',
      },
      body: JSON.stringify({ month }),
    });
    const response = await fetchSignedIn(request);
    if (!response.ok) throw await ApiError.from(response);
    if (response.status === 202) throw new Error(t('It takes longer: look under Conversions.'));
    return { file: await response.blob(), name: `statement-${month}.pdf` };
  };
  return (
    <Section
      title={t('Monthly statement')}
      lead={t(
        'A PDF of what a month used, with the events of the log that prove it. It costs no credit.',
      )}
      actions={
        month !== '' && (
          <div className="line">
            <Select
              label={t('Month (UTC)')}
              choices={months.map((value) => ({ value, label: value }))}
              value={month}
              onChange={setMonth}
            />
            <SaveButton small icon="download" what="statement" load={load}>
              {t('Make the statement')}
            </SaveButton>
          </div>
        )
      }
    >
      {month === '' && <p>{t('There is one once the first month of the account is over.')}</p>}
    </Section>
  );
}
