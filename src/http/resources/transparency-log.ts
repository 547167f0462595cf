/** The published side of the log, for everybody, and the proofs of a conversion, for its account. */
import Type from 'typebox';
import { checkpointQueries } from '../../../projections/checkpoints.ts';
import { ServiceError } from '../../errors/errors.ts';
import {
  consistencyBetween,
  currentCheckpoint,
  currentKeys,
  proofOfConversion,
  publishedTile,
} from '../../log/transparency-log.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { fromDecimal } from '../../transparency-log/signed-note.ts';
import { type HttpContext, pathParameter } from '../context.ts';
import { Closed, Count, Text } from '../openapi/fields.ts';
import { type Endpoint, wrongField } from '../openapi/operation.ts';
import { checkQuery } from '../pagination.ts';
import { ownConversion } from './conversions.ts';

export const ORIGIN = 'pressledger/0123456789abcdef';
const KEY = `${ORIGIN}+c74f20a3+AdxWW6UGDTTZMg5ZIY0ilNbvLF8SnEmpmqV2gb8sXbVt`;
export const HASH = 'q1E3Hk0mDk4t0m3yTtY1V5iAz5P0Uu8Yk3rKZ1u2G0Y=';
export const CHECKPOINT = `${ORIGIN}\n4711\n${HASH}\n\n— ${ORIGIN} x08go0mJ…\n`;

/** The answer of `GET /tlog/consistency`. */
export const ConsistencyProof = Closed({
  from: Type.Integer({ minimum: 0, examples: [1200] }),
  to: Type.Integer({ minimum: 0, examples: [4711] }),
  proof: Type.Array(Text(HASH), {
    description: 'The hashes of RFC 6962, section 2.1.2, in base64.',
  }),
});

export const PROVEN_EVENT = {
  index: 42,
  event: '{"data":{…},"id":"…","metadata":{…},"revision":0,"stream":"…","type":"…"}',
  proof: `c2sp.org/tlog-proof@v1\nindex 42\n${HASH}\n\n${CHECKPOINT}`,
};

/** An event, and the proof that the checkpoint covers it. */
export const ProvenEvent = Closed({
  index: Count('The number of the event in the log, from 0.', PROVEN_EVENT.index),
  event: Text(
    PROVEN_EVENT.event,
    'The event as stored, in the canonical form of RFC 8785: what is hashed.',
  ),
  proof: Text(
    PROVEN_EVENT.proof,
    'The inclusion proof with the checkpoint, as c2sp.org/tlog-proof has it.',
  ),
});

/** The answer of `GET /conversions/{id}/proof/`. */
export const ConversionProof = Closed({
  origin: Text(ORIGIN, 'The name of the log.'),
  key: Text(
    KEY,
    'The verifier key of the log, as c2sp.org/signed-note has it; one a line where several are in force.',
  ),
  checkpoint: Text(CHECKPOINT, 'The signed checkpoint, as c2sp.org/tlog-checkpoint has it.'),
  entries: Type.Array(ProvenEvent, {
    description: 'Every event of the conversion so far, in the order of the log.',
  }),
});

const sizeParameter = (name: string, description: string, example: number) =>
  ({
    name,
    in: 'query',
    required: true,
    description,
    schema: Type.Integer({ minimum: 0, examples: [example] }),
  }) as const;

/** https://c2sp.org/tlog-tiles: what changes is not kept by caches, what never changes is kept for long. */
const MUTABLE = 'no-cache';
const IMMUTABLE = 'public, max-age=31536000, immutable';

const SIZES = ['from', 'to'] as const;

function sendText(ctx: HttpContext, text: string): void {
  ctx.set('Cache-Control', MUTABLE);
  ctx.type = 'text/plain; charset=utf-8';
  ctx.body = text;
}

export const getCheckpoint: Endpoint = {
  doc: {
    id: 'getLogCheckpoint',
    tag: 'Transparency log',
    summary: 'Retrieve the newest checkpoint',
    description:
      'The size and root hash of the tree over all events, signed with the keys of the log and cosigned by its witnesses (c2sp.org/tlog-checkpoint).',
    answers: { 200: { description: 'The signed note.', media: 'text/plain' } },
  },
  handler: (deps) => async (ctx) => sendText(ctx, (await currentCheckpoint(deps)).note),
};

export const getLogKey: Endpoint = {
  doc: {
    id: 'getLogKey',
    tag: 'Transparency log',
    summary: 'Retrieve the verifier keys',
    description:
      'The keys that checkpoints are verified with, one a line, the newest first (c2sp.org/signed-note). Keep a copy from a source that you trust.',
    answers: { 200: { description: 'The keys.', media: 'text/plain' } },
  },
  handler: (deps) => async (ctx) => {
    const keys = await currentKeys(deps);
    sendText(ctx, keys.map((key) => `${key}\n`).join(''));
  },
};

export const getTile: Endpoint = {
  doc: {
    id: 'getLogTile',
    tag: 'Transparency log',
    summary: 'Retrieve a tile of hashes',
    description:
      'A tile of the tree, as c2sp.org/tlog-tiles has it, at /tlog/tile/<L>/<N>[.p/<W>]. There are no entry bundles: the events belong to their accounts.',
    parameters: [
      {
        name: 'path',
        in: 'path',
        description: 'Level, number and width of the tile, with slashes between them.',
        schema: Text('0/x001/234'),
      },
    ],
    answers: { 200: { description: 'The hashes.', media: 'application/octet-stream' } },
    errors: {
      not_found: {
        when: 'It is not a tile of hashes, or the newest checkpoint does not cover it.',
        message: 'The log has no such tile of hashes.',
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const hashes = await publishedTile(deps, pathParameter(ctx, 'path'));
    if (hashes === undefined) {
      throw new ServiceError('not_found', 'The log has no such tile of hashes.');
    }
    ctx.set('Cache-Control', IMMUTABLE);
    ctx.type = 'application/octet-stream';
    ctx.body = hashes;
  },
};

export const getConsistency: Endpoint = {
  doc: {
    id: 'getLogConsistency',
    tag: 'Transparency log',
    summary: 'Retrieve a consistency proof',
    description: 'The proof that the log of a size goes on from the log of a smaller one.',
    parameters: [
      sizeParameter('from', 'The smaller size.', 1200),
      sizeParameter('to', 'The larger size, not beyond the newest checkpoint.', 4711),
    ],
    answers: { 200: { description: 'The proof.', schema: ConsistencyProof } },
    errors: {
      validation_error: wrongField(
        'from',
        'Must not be greater than to.',
        'A size is missing, is not a whole number, or is beyond the newest checkpoint.',
      ),
    },
  },
  handler: (deps) => async (ctx) => {
    const issues = new ValidationIssues();
    checkQuery(ctx, issues, SIZES);
    const { size } = await currentCheckpoint(deps);
    const [from, to] = SIZES.map((name) => {
      const text = ctx.query[name];
      const value = typeof text === 'string' ? fromDecimal(text) : undefined;
      if (value !== undefined && value <= size) return value;
      issues.add(
        name,
        `Must be a whole number from 0 to ${size}, the size of the newest checkpoint.`,
      );
      return undefined;
    });
    if (from !== undefined && to !== undefined && from > to) {
      issues.add('from', 'Must not be greater than to.');
    }
    issues.throwIfAny();
    const proof = consistencyBetween(deps, from ?? 0, to ?? 0);
    ctx.body = { from, to, proof: proof.map((hash) => hash.toString('base64')) };
  },
};

export const getConversionProof: Endpoint = {
  doc: {
    id: 'getConversionProof',
    tag: 'Conversions',
    summary: 'Prove the events of a conversion',
    description:
      'Every event of the conversion so far, each with the proof that a signed checkpoint of the log covers it. Where the newest checkpoint is too old, a new one is signed first: that takes up to a second.',
    answers: { 200: { description: 'The proofs.', schema: ConversionProof } },
  },
  handler: (deps) => async (ctx) => {
    const conversionId = pathParameter(ctx, 'id');
    await ownConversion(ctx, deps, conversionId, ctx.state.asOf);
    ctx.body = await proofOfConversion(deps, conversionId);
  },
};

export const getTimestamp: Endpoint = {
  doc: {
    id: 'getLogTimestamp',
    tag: 'Transparency log',
    summary: 'Retrieve the timestamp of a checkpoint',
    description:
      'When the checkpoint was there at the latest, said by a timestamp authority: a TimeStampToken of RFC 3161, DER, over the SHA-256 of the checkpoint with the log’s own signatures.',
    parameters: [
      {
        name: 'size',
        in: 'path',
        description: 'The size of the checkpoint.',
        schema: Type.Integer({ minimum: 1, examples: [4711] }),
      },
    ],
    answers: {
      200: { description: 'The token.', media: 'application/vnd.etsi.timestamp-token' },
    },
    errors: {
      not_found: {
        when: 'There is no checkpoint of this size, or no timestamp of it.',
        message: 'There is no timestamp of a checkpoint of this size.',
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const size = fromDecimal(pathParameter(ctx, 'size')) ?? 0;
    const checkpoint = (await consistentQuery(deps, checkpointQueries)).covering(size);
    if (checkpoint?.size !== size || checkpoint.timestamp === undefined) {
      throw new ServiceError('not_found', 'There is no timestamp of a checkpoint of this size.');
    }
    ctx.set('Cache-Control', IMMUTABLE);
    ctx.type = 'application/vnd.etsi.timestamp-token';
    ctx.body = checkpoint.timestamp;
  },
};
