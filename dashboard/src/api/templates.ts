/** How the pages ask for templates and their versions, and under which keys they keep the answers. */
import { queryOptions } from '@tanstack/react-query';
import { api, dataOf, queryClient } from './client.ts';
import type { components } from './schema.d.ts';

export type Template = components['schemas']['Template'];
export type TemplateVersion = components['schemas']['TemplateVersion'];
export type TemplateContent = components['schemas']['TemplateContent'];

/** The beginning of the keys of all of them. */
export const TEMPLATES = ['templates'] as const;
/** An account has no more, so that one page holds them all. */
const MOST_TEMPLATES = 100;

export const templatesQuery = queryOptions({
  queryKey: [...TEMPLATES, 'list'],
  queryFn: ({ signal }) => {
    const params = { query: { page_size: MOST_TEMPLATES } };
    return dataOf(api.GET('/api/v1/templates/', { params, signal }));
  },
});

export const templateQuery = (id: string) =>
  queryOptions({
    queryKey: [...TEMPLATES, 'one', id],
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/v1/templates/{id}/', { params: { path: { id } }, signal })),
  });

/** What a version holds never changes. */
export const templateVersionQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: [...TEMPLATES, 'version', id, version],
    queryFn: ({ signal }) => {
      const params = { path: { id, version } };
      return dataOf(api.GET('/api/v1/templates/{id}/versions/{version}/', { params, signal }));
    },
  });

export const forgetTemplates = (): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: TEMPLATES });

/** Saves what a version holds as the newest one. */
export async function restoreVersion(id: string, version: number): Promise<void> {
  const held = await queryClient.fetchQuery(templateVersionQuery(id, version));
  const { version: _, bytes: __, saved_at: ___, saved_by: ____, ...body } = held;
  const params = { path: { id } };
  await dataOf(api.POST('/api/v1/templates/{id}/versions/', { params, body }));
}
