/** The published side of the log, for everybody, and the proofs of a conversion, for its account. */
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
import { fromDecimal } from '../../transparency-log/encoding.ts';
import { type HttpContext, type HttpMiddleware, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { ownConversion } from './conversions.ts';

/** https://c2sp.org/tlog-tiles: what changes is not kept by caches, what never changes is kept for long. */
const MUTABLE = 'no-cache';
const IMMUTABLE = 'public, max-age=31536000, immutable';

const SIZES = ['from', 'to'] as const;

function sendText(ctx: HttpContext, text: string): void {
  ctx.set('Cache-Control', MUTABLE);
  ctx.type = 'text/plain; charset=utf-8';
  ctx.body = text;
}

export function getCheckpoint(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => sendText(ctx, (await currentCheckpoint(deps)).note);
}

export function getLogKey(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const keys = await currentKeys(deps);
    sendText(ctx, keys.map((key) => `${key}\n`).join(''));
  };
}

export function getTile(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const hashes = await publishedTile(deps, pathParameter(ctx, 'path'));
    if (hashes === undefined) {
      throw new ServiceError('not_found', 'The log has no such tile of hashes.');
    }
    ctx.set('Cache-Control', IMMUTABLE);
    ctx.type = 'application/octet-stream';
    ctx.body = hashes;
  };
}

export function getConsistency(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const issues = new ValidationIssues();
    for (const name of Object.keys(ctx.query)) {
      if (!SIZES.some((each) => each === name)) issues.addUnknown([name], SIZES, 'query parameter');
    }
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
  };
}

export function getConversionProof(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const conversionId = pathParameter(ctx, 'id');
    await ownConversion(ctx, deps, conversionId, ctx.state.asOf);
    ctx.body = await proofOfConversion(deps, conversionId);
  };
}

export function getTimestamp(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const size = fromDecimal(pathParameter(ctx, 'size')) ?? 0;
    const checkpoint = (await consistentQuery(deps, checkpointQueries)).covering(size);
    if (checkpoint?.size !== size || checkpoint.timestamp === undefined) {
      throw new ServiceError('not_found', 'There is no timestamp of a checkpoint of this size.');
    }
    ctx.set('Cache-Control', IMMUTABLE);
    ctx.type = 'application/vnd.etsi.timestamp-token';
    ctx.body = checkpoint.timestamp;
  };
}
