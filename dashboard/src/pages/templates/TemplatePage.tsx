import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { api, dataOf } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { usePage } from '../../api/paged.ts';
import { useRights } from '../../api/people.ts';
import {
  forgetTemplates,
  restoreVersion,
  TEMPLATES,
  type Template,
  type TemplateVersion,
  templateQuery,
} from '../../api/templates.ts';
import { ActButton } from '../../ui/ActButton.tsx';
import { ButtonLink } from '../../ui/Button.tsx';
import { ConfirmButton, DialogButton } from '../../ui/Dialog.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Page, Section } from '../../ui/Page.tsx';
import { SendForm } from '../../ui/SendForm.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { type Column, Records } from '../../ui/Table.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';

const route = getRouteApi('/signed-in/templates/$id');

export default function TemplatePage() {
  const { id } = route.useParams();
  const query = useQuery(templateQuery(id));
  const { mayWork } = useRights();
  const { data: template, error } = query;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Page title="Template">
        <EmptyState
          icon="search"
          title="This account has no such template"
          action={<ButtonLink to="/templates">See all templates</ButtonLink>}
        >
          It may have been deleted, or the address of this page is misspelt.
        </EmptyState>
      </Page>
    );
  }
  return (
    <Page
      title={template?.name ?? 'Template'}
      lead={<Link to="/templates">All templates</Link>}
      actions={mayWork && template !== undefined && <Actions template={template} />}
    >
      <Loaded query={query} what="the template" lines={4}>
        {({ version, created_at: at }) => (
          <Section title="Summary">
            <Facts
              facts={{
                'Newest version': version,
                Created: <Time iso={at} />,
                Id: <code>{id}</code>,
                Documents: (
                  <Link to="/conversions" search={{ template: id }}>
                    What was made of it
                  </Link>
                ),
              }}
            />
          </Section>
        )}
      </Loaded>
      {template !== undefined && <Versions template={template} />}
    </Page>
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
    { header: 'Version', isRowHeader: true, cell: ({ version }) => version },
    { header: 'Saved', cell: ({ saved_at: at }) => <Time iso={at} /> },
    { header: 'By', isText: true, cell: ({ saved_by: by }) => <bdi>{by}</bdi> },
    { header: 'Size', align: 'end', cell: ({ bytes }) => formatBytes(bytes) },
    {
      header: 'Actions',
      isText: true,
      cell: ({ version }) =>
        mayWork && (
          <span className="line">
            <ButtonLink to="/playground" search={{ template: `${id}@${version}` }} small>
              Open
            </ButtonLink>
            {version !== newest && (
              <ActButton
                small
                act={() => restoreVersion(id, version)}
                done={`Version ${version} is the newest again, as version ${newest + 1}.`}
                failed="It was not restored."
                after={forgetTemplates}
              >
                Restore
              </ActButton>
            )}
          </span>
        ),
    },
  ];
  return (
    <Section
      title="Versions"
      lead="Requests that name no version use the newest. Documents keep the one that they were made of."
    >
      <Records
        list={list}
        of="versions"
        label="Versions"
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
        empty={
          <EmptyState icon="list" title="This page has no versions">
            They are on earlier pages.
          </EmptyState>
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
    announce('The template is deleted.');
    await navigate({ to: '/templates' });
    await forgetTemplates();
  };
  return (
    <>
      <ButtonLink to="/playground" search={{ template: id }} look="primary" icon="edit">
        Edit in the playground
      </ButtonLink>
      <DialogButton text="Rename" icon="edit" title="Rename the template">
        {(close) => (
          <SendForm
            action="Rename"
            onCancel={close}
            onSend={async (textOf) => {
              const body = { name: textOf('name') };
              await dataOf(api.PATCH('/api/v1/templates/{id}/', { params, body }));
              close();
              await forgetTemplates();
              return undefined;
            }}
          >
            <TextField label="Name" name="name" defaultValue={name} isRequired autoFocus />
          </SendForm>
        )}
      </DialogButton>
      <ConfirmButton
        text="Delete"
        icon="trash"
        title="Delete the template?"
        action="Delete the template"
        onConfirm={remove}
      >
        <p>
          Programs that name it are refused from then on. Documents that were made of it stay as
          they are. Its versions cannot be had any more.
        </p>
      </ConfirmButton>
    </>
  );
}
