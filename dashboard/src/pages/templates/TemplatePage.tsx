import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { api, dataOf, usePage } from '../../api/client.ts';
import { useRights } from '../../api/people.ts';
import {
  forgetTemplates,
  restoreVersion,
  type Template,
  templateQuery,
  TEMPLATES,
  type TemplateVersion,
} from '../../api/templates.ts';
import { ActButton, ConfirmButton } from '../../ui/Dialog.tsx';
import { ButtonLink } from '../../ui/Button.tsx';
import { type Column, Facts, Records } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { formatBytes } from '../../ui/format.ts';
import { RecordPage, Section } from '../../ui/Page.tsx';
import { TextField } from '../../ui/forms.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { t } from '../../words/words.ts';

const route = getRouteApi('/signed-in/templates/$id');

export default function TemplatePage() {
  const { id } = route.useParams();
  const { mayWork } = useRights();
  return (
    <RecordPage
      query={useQuery(templateQuery(id))}
      kind={t('Template')}
      what={t('the template')}
      name={({ name }) => name}
      lead={() => <Link to="/templates">{t('All templates')}</Link>}
      actions={(template) => mayWork && <Actions template={template} />}
      missing={{
        title: t('This account has no such template'),
        text: t('It may have been deleted, or the address of this page is misspelt.'),
        action: <ButtonLink to="/templates">{t('See all templates')}</ButtonLink>,
      }}
    >
      {(template) => (
        <>
          <Section title={t('Summary')}>
            <Facts
              facts={{
                [t('Newest version')]: template.version,
                [t('Created')]: <Time iso={template.created_at} />,
                [t('Id')]: <code>{id}</code>,
                [t('Documents')]: (
                  <Link to="/conversions" search={{ template: id }}>
                    {t('What was made of it')}
                  </Link>
                ),
              }}
            />
          </Section>
          <Versions template={template} />
        </>
      )}
    </RecordPage>
  );
}

function Versions({ template: { id, version: newest } }: { readonly template: Template }) {
  const { page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const { mayWork, mayReadDocuments } = useRights();
  const list = usePage({
    key: [...TEMPLATES, 'versions', id],
    page,
    size: 20,
    ask: (query, signal) => {
      const params = { path: { id }, query };
      return api.GET('/api/v1/templates/{id}/versions/', { params, signal });
    },
  });
  const columns: readonly Column<TemplateVersion>[] = [
    { header: t('Version'), isRowHeader: true, cell: ({ version }) => version },
    { header: t('Saved'), cell: ({ saved_at: at }) => <Time iso={at} /> },
    { header: t('By'), isText: true, cell: ({ saved_by: by }) => <bdi>{by}</bdi> },
    { header: t('Size'), align: 'end', cell: ({ bytes }) => formatBytes(bytes) },
    {
      header: t('Actions'),
      isActions: true,
      cell: ({ version }) =>
        mayWork && (
          <span className="line">
            <ButtonLink to="/playground" search={{ template: `${id}@${version}` }} small>
              {t('Open')}
            </ButtonLink>
            {version !== newest && (
              <ActButton
                small
                act={() => restoreVersion(id, version)}
                done={t('Version {version} is the newest again, as version {value}.', {
                  version,
                  value: newest + 1,
                })}
                failed={t('It was not restored.')}
                after={forgetTemplates}
              >
                {t('Restore')}
              </ActButton>
            )}
          </span>
        ),
    },
  ];
  return (
    <Section
      title={t('Versions')}
      lead={t(
        'Requests that name no version use the newest. Documents keep the one that they were made of.',
      )}
    >
      <Records
        list={list}
        of={t('versions')}
        label={t('Versions')}
        columns={mayWork || mayReadDocuments ? columns : columns.slice(0, -1)}
        rowKey={({ version }) => String(version)}
        onPage={(next) =>
          void navigate({
            to: '/templates/$id',
            params: { id },
            search: { page: next },
            resetScroll: false,
          })
        }
      />
    </Section>
  );
}

function Actions({ template: { id, name } }: { readonly template: Template }) {
  const params = { path: { id } };
  const navigate = useNavigate();
  const remove = async () => {
    await dataOf(api.DELETE('/api/v1/templates/{id}/', { params }));
    announce(t('The template is deleted.'));
    await navigate({ to: '/templates' });
    await forgetTemplates();
  };
  return (
    <>
      <ButtonLink to="/playground" search={{ template: id }} look="primary" icon="edit">
        {t('Edit in the playground')}
      </ButtonLink>
      <ConfirmButton
        text={t('Rename')}
        icon="edit"
        title={t('Rename the template')}
        action={t('Rename')}
        actionLook="primary"
        onConfirm={async (textOf) => {
          const body = { name: textOf('name') };
          await dataOf(api.PATCH('/api/v1/templates/{id}/', { params, body }));
          void forgetTemplates();
        }}
      >
        <TextField label={t('Name')} name="name" defaultValue={name} isRequired autoFocus />
      </ConfirmButton>
      <ConfirmButton
        text={t('Delete')}
        icon="trash"
        title={t('Delete the template?')}
        action={t('Delete the template')}
        onConfirm={remove}
      >
        {t(
          'Programs that name it are refused from then on. Documents that were made of it stay as they are. Its versions cannot be had any more.',
        )}
      </ConfirmButton>
    </>
  );
}
