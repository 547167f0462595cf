/** The templates of one account. They share a stream: how many there may be is decided where all of them are seen. */
import type { AggregateType, Decider, Rejection } from './decider.ts';
import type { EventOf } from './events.ts';

export const templatesStream = (accountId: string): string => `templates-${accountId}`;

export type TemplatesEvent = EventOf<
  'TemplateCreated' | 'TemplateVersionSaved' | 'TemplateRenamed' | 'TemplateDeleted'
>;

export const MAX_TEMPLATES = 100;
export const MAX_VERSIONS = 1000;
/** Bytes of one version, as JSON. An event store server takes 1 MiB in one append, and encryption adds a third. */
export const MAX_CONTENT_BYTES = 256 * 1024;
/** Bytes of all versions that an account saves in one day (UTC): the log keeps them, also of deleted templates. */
export const MAX_BYTES_A_DAY = 16 * 1024 * 1024;

/** What a version holds, sealed in its event. Texts are Liquid, but for `files` and `options`. */
export interface TemplateContent {
  readonly html: string;
  readonly header_html?: string;
  readonly footer_html?: string;
  /** The files that are served to `html` beside it: relative name to content in base64. */
  readonly files?: Readonly<Record<string, string>>;
  /** Options of requests that do not have them. */
  readonly options?: Readonly<Record<string, unknown>>;
  /** JSON Schema of the data. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /** Data to look at the template with. */
  readonly sample?: Readonly<Record<string, unknown>>;
}

interface Template {
  readonly id: string;
  readonly version: number;
  /** That of the newest version. */
  readonly contentHmac: string;
}

export interface TemplatesState {
  readonly templates: readonly Template[];
  /** The last day on which something was saved, in days since the epoch, and the bytes that it took. */
  readonly day: number;
  readonly bytes: number;
}

interface CommandOf {
  readonly accountId: string;
  readonly templateId: string;
  readonly now: number;
}

/** Texts are sealed. */
interface NewVersion {
  readonly content: string;
  readonly contentHmac: string;
  readonly bytes: number;
}

export type TemplatesCommand =
  | ({ readonly type: 'CreateTemplate'; readonly name: string } & NewVersion & CommandOf)
  | ({ readonly type: 'SaveVersion' } & NewVersion & CommandOf)
  | ({ readonly type: 'RenameTemplate'; readonly name: string } & CommandOf)
  | ({ readonly type: 'DeleteTemplate' } & CommandOf);

const DAY_MS = 86_400_000;
const dayOf = (time: number): number => Math.floor(time / DAY_MS);

const initialState: TemplatesState = { templates: [], day: 0, bytes: 0 };

const savedOn = ({ day, bytes }: TemplatesState, now: number): number =>
  day === dayOf(now) ? bytes : 0;

function evolve(state: TemplatesState, event: TemplatesEvent): TemplatesState {
  switch (event.type) {
    case 'TemplateCreated': {
      const created = { id: event.data.templateId, version: 0, contentHmac: '' };
      return { ...state, templates: [...state.templates, created] };
    }
    case 'TemplateVersionSaved': {
      const { templateId: id, version, contentHmac, bytes, savedAt } = event.data;
      const saved = { id, version, contentHmac };
      return {
        templates: state.templates.map((each) => (each.id === id ? saved : each)),
        day: dayOf(savedAt),
        bytes: savedOn(state, savedAt) + bytes,
      };
    }
    case 'TemplateRenamed':
      return state;
    case 'TemplateDeleted':
      return {
        ...state,
        templates: state.templates.filter(({ id }) => id !== event.data.templateId),
      };
  }
}

export const NO_TEMPLATE = 'There is no such template.';

const refused = (message: string): Rejection => ({ rejected: 'validation_error', message });

const decide: Decider<TemplatesState, TemplatesCommand, TemplatesEvent>['decide'] = (
  command,
  state,
) => {
  const { accountId, templateId, now } = command;
  const ids = { accountId, templateId };
  const template = state.templates.find(({ id }) => id === templateId);
  const version = (template?.version ?? 0) + 1;
  const saved = ({ content, contentHmac, bytes }: NewVersion) =>
    ({
      type: 'TemplateVersionSaved',
      data: { ...ids, version, content, contentHmac, bytes, savedAt: now },
    }) as const;
  const isFull = (bytes: number) => savedOn(state, now) + bytes > MAX_BYTES_A_DAY;
  const full = refused(
    `An account saves at most ${MAX_BYTES_A_DAY} bytes of templates a day. Save it after midnight (UTC).`,
  );
  if (command.type === 'CreateTemplate') {
    if (template !== undefined) return [];
    if (state.templates.length >= MAX_TEMPLATES) {
      return refused(`An account has at most ${MAX_TEMPLATES} templates. Delete one first.`);
    }
    if (isFull(command.bytes)) return full;
    const { name } = command;
    return [{ type: 'TemplateCreated', data: { ...ids, name, createdAt: now } }, saved(command)];
  }
  if (template === undefined) return { rejected: 'not_found', message: NO_TEMPLATE };
  switch (command.type) {
    case 'SaveVersion':
      if (template.contentHmac === command.contentHmac) return [];
      if (version > MAX_VERSIONS) {
        return refused(
          `A template has at most ${MAX_VERSIONS} versions. Create another one with this content.`,
        );
      }
      return isFull(command.bytes) ? full : [saved(command)];
    case 'RenameTemplate':
      return [{ type: 'TemplateRenamed', data: { ...ids, name: command.name, renamedAt: now } }];
    case 'DeleteTemplate':
      return [{ type: 'TemplateDeleted', data: { ...ids, deletedAt: now } }];
  }
};

export const templates: Decider<TemplatesState, TemplatesCommand, TemplatesEvent> = {
  initialState,
  evolve,
  decide,
};

export const templatesAggregate: AggregateType<TemplatesState, TemplatesCommand, TemplatesEvent> = {
  name: 'templates',
  stream: templatesStream,
  decider: templates,
  snapshot: {
    version: 1,
    encode: (state) => state,
    decode: (json) => json as TemplatesState,
  },
};
