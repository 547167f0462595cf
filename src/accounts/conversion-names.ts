/** The texts by which people know a conversion again. */
import type { Database } from 'better-sqlite3';
import { type ConversionRow, conversionQueries } from '../../projections/conversions.ts';
import { NOT_OPENED } from '../documents/keys/vault.ts';

/** Opens a sealed text; undefined stands for one that was erased. */
interface Texts {
  unseal(accountId: string, sealed: string): Promise<string | undefined>;
}

type NamedRow = Pick<ConversionRow, 'id' | 'accountId' | 'filename' | 'title' | 'address'>;

/** The name that lists show: the file name, else the title of the page, else host and path of its URL, else the id. */
export async function nameOf(texts: Texts, row: NamedRow): Promise<string> {
  const { id, accountId, filename, title, address } = row;
  const sealed = filename ?? title ?? address;
  return (sealed && (await texts.unseal(accountId, sealed))) || id;
}

/** The names of the conversions that rows of another list are about, by their ids. */
export async function namesOf(
  { vault, readModel }: { readonly vault: Texts; readonly readModel: QuerySource },
  ids: Iterable<string | undefined>,
): Promise<ReadonlyMap<string | undefined, string>> {
  const conversions = readModel.query(conversionQueries);
  const rows = [...new Set(ids)].flatMap((id) => (id && conversions.byId(id)) || []);
  return new Map(
    await Promise.all(rows.map(async (row) => [row.id, await nameOf(vault, row)] as const)),
  );
}

interface QuerySource {
  query<Q>(factory: (db: Database) => Q): Q;
}

/** What the caller said of a conversion, and the page of itself, as records show it. */
export interface Naming {
  readonly filename?: string;
  readonly reference?: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly title?: string;
}

/** Opens what names a conversion; what was not given, or was erased, is left out. */
export async function namingOf(
  texts: Texts,
  row: Pick<ConversionRow, 'accountId' | 'filename' | 'reference' | 'tags' | 'title'>,
): Promise<Naming> {
  const { accountId, filename, reference, tags, title } = row;
  const open = async (sealed: string | undefined) =>
    sealed && (await texts.unseal(accountId, sealed));
  const opened = {
    filename: await open(filename),
    reference: await open(reference),
    tags: tagsIn(await open(tags)),
    title: await open(title),
  };
  return Object.fromEntries(Object.entries(opened).filter(([, value]) => value !== undefined));
}

/** @param text as it was opened; one that cannot be read stands for no tags */
export function tagsIn(text: string | undefined): Readonly<Record<string, string>> | undefined {
  if (text === undefined || text === NOT_OPENED) return undefined;
  return JSON.parse(text) as Readonly<Record<string, string>>;
}
