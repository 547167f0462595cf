/** Links by which anybody can download the file of a conversion for a while. */
import Type from 'typebox';
import { shareLinkQueries } from '../../../projections/share-links.ts';
import { createLink, revokeLink } from '../../conversions/share-links.ts';
import { LINK_ID } from '../../domain/ids.ts';
import { MAX_LINKS } from '../../domain/share-links.ts';
import { fieldError, ServiceError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { compile, validated } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { commandContext, pathParameter } from '../context.ts';
import { Closed, Count, OrNull, Text, Timestamp } from '../openapi/fields.ts';
import { type Endpoint, IN_THE_BODY, wrongField } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOf, pageOfItems, sendPage } from '../pagination.ts';
import { ownConversion, refuseUnlessCompleted } from './conversions.ts';
import { assertInRetention } from './file-retention.ts';

/** The body of `POST /conversions/{id}/links/`. */
export const ShareLinkRequest = Closed({
  expires_in: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Seconds from now until the link expires, at most as long as the file is kept. Absent: as long as it is kept.',
      examples: [86_400],
    }),
  ),
});

const LINK = 'link_06f3k8r1v2w9x4y5z6a7b8c9d0';
const Id = Type.String({ pattern: `^${LINK_ID}$`, examples: [LINK] });
const CreatedAt = Timestamp('The time when the link was created.');
const ExpiresAt = Timestamp(
  'The time from which the link does not work.',
  '2026-11-22T08:15:30.123Z',
);

/** The answer of `POST /conversions/{id}/links/`. */
export const CreatedShareLink = Closed({
  id: Id,
  url: Text(
    'https://pdf.example.com/s/4kXw8Zr2Tq9mBv7Jc1Hs6N',
    'The link. It is shown only this once.',
  ),
  created_at: CreatedAt,
  expires_at: ExpiresAt,
});

/** One item of `GET /conversions/{id}/links/`. */
export const ShareLink = Closed({
  id: Id,
  created_at: CreatedAt,
  expires_at: ExpiresAt,
  downloads: Count(
    'Recorded downloads: at most one for each network and minute, and 100 of the file in all.',
    2,
  ),
  last_downloaded_at: OrNull(
    Timestamp('The time of the last recorded download; null before the first.'),
  ),
});

const check = compile(ShareLinkRequest);

const tooLong = (seconds: number): string =>
  `The file is kept for another ${seconds} seconds: choose that or less.`;
const HELD =
  'The retention of the file has ended: it is kept only because the account is under a hold.';
const NOT_COMPLETED = {
  not_ready: 'The conversion has not ended yet.',
  conversion_failed: {
    when: 'The conversion has failed: the message says why.',
    message: 'The page answered with status 404.',
  },
};

/** @throws {ServiceError} `validation_error`, or `gone` where a hold alone keeps the file */
function endOfLink(now: number, seconds: number | undefined, keptUntil: number): number {
  if (keptUntil <= now) throw new ServiceError('gone', HELD);
  if (seconds === undefined) return keptUntil;
  if (now + seconds * 1000 <= keptUntil) return now + seconds * 1000;
  const left = Math.floor((keptUntil - now) / 1000);
  throw fieldError('expires_in', tooLong(left));
}

export const postLink: Endpoint = {
  doc: {
    id: 'createShareLink',
    tag: 'Conversions',
    summary: 'Create a link to the file',
    description: `Whoever has the link can download the file until it expires, without a credential. It works until then, also after the key or person that created it is gone: revoke it to end it sooner. A conversion has at most ${MAX_LINKS} at a time.`,
    body: { schema: ShareLinkRequest },
    answers: {
      201: {
        description: 'The link. Only a hash of its secret is stored.',
        schema: CreatedShareLink,
      },
    },
    errors: {
      validation_error: {
        ...wrongField('expires_in', tooLong(3600), ''),
        when: `${IN_THE_BODY} Or the link would outlast the file, or the conversion has ${MAX_LINKS} links.`,
      },
      ...NOT_COMPLETED,
      gone: 'The file was deleted, or its retention has ended: also where a hold still keeps it.',
    },
  },
  handler: (deps) => async (ctx) => {
    const { expires_in: seconds } = await deps.bodies.readSmall(ctx, deps.config, check);
    const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    await refuseUnlessCompleted(deps, row);
    const keptUntil = await assertInRetention(deps, row);
    const context = await commandContext(ctx, deps);
    const createdAt = context.metadata.time;
    const expiresAt = endOfLink(createdAt, seconds, keptUntil);
    const { id, secret } = await createLink(deps, row, expiresAt, context);
    ctx.status = 201;
    ctx.body = {
      id,
      url: `${deps.publicUrl}/s/${secret}`,
      created_at: isoTime(createdAt),
      expires_at: isoTime(expiresAt),
    };
  },
};

export const listLinks: Endpoint = {
  doc: {
    id: 'listShareLinks',
    tag: 'Conversions',
    summary: 'List links to the file',
    description:
      'The links that were neither revoked nor have expired, newest first. The links themselves are never shown again.',
    parameters: PAGE_PARAMETERS,
    answers: { 200: pageOfItems(ShareLink) },
  },
  handler: (deps) => async (ctx) => {
    const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    const page = validated((issues) => pageOf(ctx, issues));
    const queries = await consistentQuery(deps, shareLinkQueries, ctx.state.asOf);
    const { rows, total } = queries.page(row.id, deps.clock.now(), page);
    const links = rows.map(({ id, createdAt, expiresAt, downloads, lastDownloadAt }) => ({
      id,
      created_at: isoTime(createdAt),
      expires_at: isoTime(expiresAt),
      downloads,
      last_downloaded_at: lastDownloadAt === undefined ? null : isoTime(lastDownloadAt),
    }));
    sendPage(ctx, deps.publicUrl, page, total, links);
  },
};

export const deleteLink: Endpoint = {
  doc: {
    id: 'revokeShareLink',
    tag: 'Conversions',
    summary: 'Revoke a link to the file',
    description: 'Takes effect immediately and cannot be undone. The file stays.',
    parameters: [
      {
        name: 'link_id',
        in: 'path',
        description: 'The id of the link.',
        schema: Text(LINK),
      },
    ],
    answers: { 204: { description: 'The link was revoked. There is no body.' } },
    errors: {
      not_found: {
        when: 'The account has no conversion with this id, or the conversion has no such link: it was revoked before, or has expired.',
        message: 'There is no such link.',
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    const linkId = pathParameter(ctx, 'link_id');
    await revokeLink(deps, row, linkId, await commandContext(ctx, deps));
    ctx.status = 204;
  },
};
