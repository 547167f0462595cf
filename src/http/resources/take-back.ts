/** Taking conversions back: cancelling what is unfinished, and deleting the documents of what has ended. */
import { takeBack } from '../../conversions/take-back.ts';
import { commandContext, pathParameter } from '../context.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { ownConversion } from './conversions.ts';

export const deleteConversion: Endpoint = {
  doc: {
    id: 'deleteConversion',
    tag: 'Conversions',
    summary: 'Cancel a conversion, or delete its documents',
    description:
      'An unfinished conversion is cancelled: it has failed with the failure_code cancelled, its credit is refunded, and a page that is being rendered is given up. The PDF and all else that is stored of a conversion that has ended is deleted before the response. Its record and its history stay. It is safe to repeat: the second request for a conversion that was cancelled deletes its request, too.',
    answers: {
      204: { description: 'It was cancelled, or its documents are deleted. There is no body.' },
    },
    errors: {
      on_hold:
        'The conversion has ended and its account is under a hold. What is unfinished can be cancelled nevertheless.',
    },
  },
  handler: (deps) => async (ctx) => {
    const row = await ownConversion(ctx, deps, pathParameter(ctx, 'id'), ctx.state.asOf);
    await takeBack(deps, row, await commandContext(ctx, deps));
    ctx.status = 204;
  },
};
