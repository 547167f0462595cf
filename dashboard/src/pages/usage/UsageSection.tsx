import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { fetchSignedIn } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { lastDays, recentUsageQuery } from '../../api/usage.ts';
import { Loaded, Section } from '../../ui/Page.tsx';
import { SaveButton } from '../../ui/Dialog.tsx';
import { Select } from '../../ui/Select.tsx';
import { type Span, SPANS } from './search.ts';
import { UsageDays } from './UsageDays.tsx';
import { t } from '../../words/words.ts';

interface UsageSectionProps {
  readonly span: Span;
  readonly onSpan: (span: Span) => void;
}

/** The conversions by day and result. */
export function UsageSection({ span, onSpan }: UsageSectionProps) {
  const [now] = useState(Date.now);
  const usage = useQuery({ ...recentUsageQuery(span, now), placeholderData: keepPreviousData });
  return (
    <Section
      title={t('Conversions by day')}
      lead={t('Days are in UTC.')}
      actions={
        <div className="line">
          <Select
            label={t('Days')}
            choices={SPANS.map((days) => ({
              value: String(days),
              label: t('Last {days} days', { days }),
            }))}
            value={String(span)}
            onChange={(value) => onSpan(Number(value) as Span)}
          />
          <ExportButton
            path={`/api/v1/account/usage/?${new URLSearchParams({ ...lastDays(span, now) })}`}
            fileName={`usage-${span}-days.csv`}
            what="usage"
          />
        </div>
      }
    >
      <Loaded query={usage} what={t('the usage')} lines={8}>
        {(days) => <UsageDays days={days} />}
      </Loaded>
    </Section>
  );
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
