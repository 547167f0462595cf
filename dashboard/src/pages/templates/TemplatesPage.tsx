import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRights } from '../../api/people.ts';
import { type Template, templatesQuery } from '../../api/templates.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { EmptyState, Loaded, Page } from '../../ui/Page.tsx';
import { type Column, Table } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { t } from '../../words/words.ts';

const COLUMNS: readonly Column<Template>[] = [
  {
    header: t('Name'),
    isRowHeader: true,
    cell: ({ id, name }) => (
      <Link to="/templates/$id" params={{ id }} search={{}} dir="auto">
        {name}
      </Link>
    ),
  },
  { header: t('Version'), align: 'end', cell: ({ version }) => version },
  { header: t('Changed'), cell: ({ updated_at: at }) => <Time iso={at} /> },
];

export default function TemplatesPage() {
  const templates = useQuery(templatesQuery);
  const { mayWork } = useRights();
  const write = mayWork && (
    <ButtonLink to="/playground" search={{ template: 'new' }} look="primary" icon="plus">
      {t('Write a template')}
    </ButtonLink>
  );
  return (
    <Page
      title={t('Templates')}
      lead={t(
        'HTML with places for data. A program sends only the data, and each document says which version it was made of.',
      )}
      actions={templates.data?.length !== 0 && write}
    >
      <Loaded query={templates} what={t('the templates')}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState icon="document" title={t('There is no template yet')} action={write}>
              {t(
                'The playground has an invoice, a letter, a report and a certificate to begin with.',
              )}
            </EmptyState>
          ) : (
            <Table label={t('Templates')} columns={COLUMNS} rows={rows} rowKey={({ id }) => id} />
          )
        }
      </Loaded>
    </Page>
  );
}
