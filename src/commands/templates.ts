/** Templates of the account at a service. */
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { TemplateContent } from '../../client/src/templates.ts';
import {
  type Invocation,
  requiredOption,
  type Run,
  textOption,
  UsageError,
  wholeNumber,
} from './command.ts';
import { dateOf, limitOf, serviceOf, take } from './service.ts';

const firstOf = ({ positionals: [id = ''] }: Invocation): string => id;

type AnyObject = Record<string, unknown>;

async function fileText(path: string): Promise<string> {
  if (path === '-') return await text(process.stdin);
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UsageError(`There is no file ${path} that can be read.`);
  }
}

/** The JSON object in the file that an option names. @throws {UsageError} */
export async function objectIn(
  invocation: Invocation,
  name: string,
): Promise<AnyObject | undefined> {
  const path = textOption(invocation, name);
  if (path === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(await fileText(path));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The file of --${name} is not JSON: ${path}.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as AnyObject;
  }
  throw new UsageError(`The file of --${name} must hold a JSON object: ${path}.`);
}

const versionOf = (invocation: Invocation): number | undefined => {
  const given = textOption(invocation, 'version');
  return given === undefined ? undefined : wholeNumber(given, '--version', 1, 1_000_000);
};

export const templatesList: Run = async (invocation, context) => {
  const { client } = await serviceOf(invocation, context);
  const items = await take(limitOf(invocation), (query) => client.templates.all(query));
  context.output.json(items);
  context.output.table(
    ['ID', 'VERSION', 'CHANGED', 'NAME'],
    items.map((each) => [each.id, each.version, dateOf(each.updated_at), each.name]),
    'There is no template.',
  );
};

/** Lists the versions, or prints the HTML of one. */
export const templatesShow: Run = async (invocation, { output, ...context }) => {
  const { client } = await serviceOf(invocation, { output, ...context });
  const id = firstOf(invocation);
  const version = versionOf(invocation);
  if (version !== undefined) {
    const content = await client.templates.version(id, version);
    output.json(content);
    return output.line(content.html);
  }
  const template = await client.templates.get(id);
  const { items } = await client.templates.listVersions(id, { pageSize: 100 });
  output.json({ ...template, versions: items });
  output.table(
    ['VERSION', 'SAVED', 'BYTES', 'BY'],
    items.map((each) => [each.version, dateOf(each.saved_at), each.bytes, each.saved_by]),
  );
};

async function contentOf(invocation: Invocation): Promise<TemplateContent> {
  const textIn = async (name: string) => {
    const path = textOption(invocation, name);
    return path === undefined ? undefined : await fileText(path);
  };
  const [header, footer] = [await textIn('header'), await textIn('footer')];
  const [schema, sample] = [
    await objectIn(invocation, 'schema'),
    await objectIn(invocation, 'sample'),
  ];
  // Whether they are known is the service's to say.
  const options: TemplateContent['options'] = await objectIn(invocation, 'options');
  return {
    html: await fileText(firstOf(invocation)),
    ...(header !== undefined && { header_html: header }),
    ...(footer !== undefined && { footer_html: footer }),
    ...(options && { options }),
    ...(schema && { schema }),
    ...(sample && { sample }),
  };
}

export const templatesSave: Run = async (invocation, context) => {
  const id = textOption(invocation, 'id');
  const name = id === undefined ? requiredOption(invocation, 'name') : undefined;
  if (id !== undefined && textOption(invocation, 'name') !== undefined) {
    throw new UsageError('--id saves another version, --name a new template: choose one.');
  }
  const content = await contentOf(invocation);
  const { client } = await serviceOf(invocation, context);
  const saved = await (id === undefined
    ? client.templates.create(name ?? '', content)
    : client.templates.save(id, content));
  context.output.json(saved);
  context.output.line(`Saved version ${saved.version} of ${saved.id}, "${saved.name}".`);
};

export const templatesRename: Run = async (invocation, context) => {
  const { client } = await serviceOf(invocation, context);
  const [id = '', name = ''] = invocation.positionals;
  const renamed = await client.templates.rename(id, name);
  context.output.json(renamed);
  context.output.line(`${renamed.id} is called "${renamed.name}".`);
};

export const templatesDelete: Run = async (invocation, context) => {
  const { client } = await serviceOf(invocation, context);
  const id = firstOf(invocation);
  await client.templates.delete(id);
  context.output.json({ id });
  context.output.line(`${id} is deleted. What was made of it stays.`);
};

export const templatesPreview: Run = async (invocation, context) => {
  const data = await objectIn(invocation, 'data');
  const version = versionOf(invocation);
  const { client } = await serviceOf(invocation, context);
  const filled = await client.templates.preview(firstOf(invocation), {
    ...(version !== undefined && { version }),
    ...(data && { data }),
  });
  context.output.json(filled);
  context.output.line(filled.html);
};
