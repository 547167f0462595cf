/** How the pages ask for templates and their versions, and under which keys they keep the answers. */
import { answerQuery, api, dataOf, queryClient } from './client.ts';
import type { components } from './schema.d.ts';

export type Template = components['schemas']['Template'];
export type TemplateVersion = components['schemas']['TemplateVersion'];
export type TemplateContent = components['schemas']['TemplateContent'];

/** The beginning of the keys of all of them. */
export const TEMPLATES = ['templates'] as const;
/** An account has no more, so that one page holds them all. */
const MOST_TEMPLATES = 100;

export const templatesQuery = answerQuery([...TEMPLATES, 'list'], '/api/v1/templates/', {
  query: { page_size: MOST_TEMPLATES },
});

export const templateQuery = (id: string) =>
  answerQuery([...TEMPLATES, 'one', id], '/api/v1/templates/{id}/', { path: { id } });

/** What a version holds never changes. */
export const templateVersionQuery = (id: string, version: number) =>
  answerQuery(
    [...TEMPLATES, 'version', id, version],
    '/api/v1/templates/{id}/versions/{version}/',
    {
      path: { id, version },
    },
  );

export const forgetTemplates = (): Promise<void> =>
  queryClient.invalidateQueries({ queryKey: TEMPLATES });

/** Saves what a version holds as the newest one. */
export async function restoreVersion(id: string, version: number): Promise<void> {
  const held = await queryClient.fetchQuery(templateVersionQuery(id, version));
  const { version: _, bytes: __, saved_at: ___, saved_by: ____, ...body } = held;
  const params = { path: { id } };
  await dataOf(api.POST('/api/v1/templates/{id}/versions/', { params, body }));
}
