/** The templates of an account: how many there are, how many versions each has, and how much is saved in a day. */
import { test } from 'tap';
import {
  MAX_BYTES_A_DAY,
  MAX_CONTENT_BYTES,
  MAX_TEMPLATES,
  MAX_VERSIONS,
  type TemplatesCommand,
  type TemplatesEvent,
  templates,
} from '../../../src/domain/templates.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, DAY_MS, NOW, sha256, templateId } from '../../support/samples.ts';

const ids = (n = 1) => ({ accountId: accountId(), templateId: templateId(n) });
const content = (n = 1, bytes = 10) => ({ content: `v1.c${n}`, contentHmac: sha256(n), bytes });
const create = (n = 1, bytes = 10): TemplatesCommand => ({
  type: 'CreateTemplate',
  ...ids(n),
  name: 'v1.n',
  ...content(1, bytes),
  now: NOW,
});
const save = (n: number, bytes = 10, now = NOW): TemplatesCommand => ({
  type: 'SaveVersion',
  ...ids(),
  ...content(n, bytes),
  now,
});
const rename: TemplatesCommand = { type: 'RenameTemplate', ...ids(), name: 'v1.m', now: NOW };
const remove: TemplatesCommand = { type: 'DeleteTemplate', ...ids(), now: NOW };

const created = (n = 1): TemplatesEvent => ({
  type: 'TemplateCreated',
  data: { ...ids(n), name: 'v1.n', createdAt: NOW },
});
const saved = (version: number, n = version, bytes = 10, savedAt = NOW): TemplatesEvent => ({
  type: 'TemplateVersionSaved',
  data: { ...ids(), version, ...content(n, bytes), savedAt },
});
const renamed: TemplatesEvent = {
  type: 'TemplateRenamed',
  data: { ...ids(), name: 'v1.m', renamedAt: NOW },
};
const deleted = (n = 1): TemplatesEvent => ({
  type: 'TemplateDeleted',
  data: { ...ids(n), deletedAt: NOW },
});

void test('a template is created once, with its first version', (t) => {
  given(t, templates).when(create()).thenEvents(created(), saved(1));
  given(t, templates, created(), saved(1)).when(create()).thenNothing();
  given(t, templates, created(2)).when(create()).thenEvents(created(), saved(1));
  t.end();
});

void test('each other content is the next version, and the same again is none', (t) => {
  given(t, templates, created(), saved(1)).when(save(2)).thenEvents(saved(2));
  given(t, templates, created(), saved(1)).when(save(1)).thenNothing();
  const twice = [created(), saved(1), saved(2)];
  given(t, templates, ...twice)
    .when(save(2))
    .thenNothing();
  given(t, templates, ...twice)
    .when(save(1))
    .thenEvents(saved(3, 1));
  given(t, templates, created(2), created(), saved(1), renamed, created(3))
    .when(save(2))
    .thenEvents(saved(2));
  t.end();
});

void test('a version of one template leaves the others as they are', (t) => {
  const other: TemplatesCommand = { type: 'SaveVersion', ...ids(2), ...content(1), now: NOW };
  const first: TemplatesEvent = {
    type: 'TemplateVersionSaved',
    data: { ...ids(2), version: 1, ...content(1), savedAt: NOW },
  };
  given(t, templates, created(2), created(), saved(1), saved(2)).when(other).thenEvents(first);
  t.end();
});

void test('templates are renamed and deleted', (t) => {
  given(t, templates, created(), saved(1)).when(rename).thenEvents(renamed);
  given(t, templates, created(), saved(1)).when(remove).thenEvents(deleted());
  for (const command of [save(1), rename, remove]) {
    given(t, templates)
      .when(command)
      .thenRejected('not_found', /no such template/);
    given(t, templates, created(2)).when(command).thenRejected('not_found');
    given(t, templates, created(), saved(1), deleted()).when(command).thenRejected('not_found');
  }
  t.end();
});

void test('an account has at most 100 templates, and a deleted one makes room', (t) => {
  t.equal(MAX_TEMPLATES, 100);
  const full = Array.from({ length: MAX_TEMPLATES }, (_, n) => created(n + 2));
  given(t, templates, ...full)
    .when(create())
    .thenRejected('validation_error', /at most 100 templates.*Delete one/);
  given(t, templates, ...full.slice(1))
    .when(create())
    .thenEvents(created(), saved(1));
  given(t, templates, ...full, deleted(7))
    .when(create())
    .thenEvents(created(), saved(1));
  t.end();
});

void test('a template has at most 1,000 versions', (t) => {
  t.equal(MAX_VERSIONS, 1000);
  given(t, templates, created(), saved(MAX_VERSIONS - 1, 1))
    .when(save(2))
    .thenEvents(saved(MAX_VERSIONS, 2));
  const last = given(t, templates, created(), saved(MAX_VERSIONS, 1));
  last.when(save(2)).thenRejected('validation_error', /at most 1000 versions.*another one/);
  last.when(save(1)).thenNothing();
  t.end();
});

void test('an account saves at most 16 MiB of templates in a day, of 256 KiB each', (t) => {
  t.equal(MAX_CONTENT_BYTES, 262_144);
  t.equal(MAX_BYTES_A_DAY, 16_777_216);
  const [most, midnight] = [MAX_BYTES_A_DAY, Date.UTC(2026, 10, 22)];
  const today = given(t, templates, created(), saved(1, 1, most - 30), saved(2, 2, 10));
  today.when(save(3, 20)).thenEvents(saved(3, 3, 20));
  today
    .when(save(3, 21))
    .thenRejected('validation_error', /16777216 bytes.*after midnight \(UTC\)/);
  today.when(save(2, 21)).thenNothing();
  today.when(create(2, 21)).thenRejected('validation_error', /after midnight/);
  today.when(save(3, 21, midnight - 1)).thenRejected('validation_error');
  today.when(save(3, 21, midnight)).thenEvents(saved(3, 3, 21, midnight));
  given(t, templates, created(), saved(1, 1, most), deleted())
    .when(create(2, 1))
    .thenRejected('validation_error', /after midnight/);
  t.end();
});

void test('a new day begins with nothing saved', (t) => {
  const tomorrow = NOW + DAY_MS;
  const state = fold(templates, [
    created(),
    saved(1, 1, 1000),
    saved(2, 2, 30, tomorrow),
    saved(3, 3, 4, tomorrow),
  ]);
  t.equal(state.bytes, 34);
  t.end();
});
