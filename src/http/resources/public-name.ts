import Type from 'typebox';
import { changePublicName, publicNameOf } from '../../accounts/public-name.ts';
import { compile } from '../../requests/validation.ts';
import { isBlank } from '../../text/plain-text.ts';
import { callerOf, commandContext } from '../context.ts';
import { Closed, OrNull, Text } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';

const NAME = 'Ada’s Bakery';
const LONGEST = 200;
/** One line, whose letters stand in the order in which they are read: strangers see the name among other words. */
const ONE_LINE = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$';
const ONE_LINE_FORM =
  'Must not contain control characters, line ends or marks that turn the direction of the text.';
const BLANK = 'Must not be blank. DELETE removes the name.';
const ABOUT = 'The name that people are told who check a PDF of the account in public.';

/** The answer about the public name of an account. */
export const PublicName = Closed({
  name: OrNull(Type.String({ description: `${ABOUT} null: none.`, examples: [NAME] })),
});

/** The body of `PUT /account/public-name/`. */
export const PublicNameChange = Closed({
  name: Text(NAME, ABOUT, { minLength: 1, maxLength: LONGEST, pattern: ONE_LINE }),
});

const checkShape = compile(PublicNameChange, { name: ONE_LINE_FORM });

export const getPublicName: Endpoint = {
  doc: {
    id: 'getPublicName',
    tag: 'Account',
    summary: 'Retrieve the public name',
    description: ABOUT,
    answers: { 200: { description: 'The name, or null.', schema: PublicName } },
  },
  handler: (deps) => async (ctx) => {
    ctx.body = { name: await publicNameOf(deps, callerOf(ctx).accountId) };
  },
};

export const putPublicName: Endpoint = {
  doc: {
    id: 'setPublicName',
    tag: 'Account',
    summary: 'Set the public name',
    description:
      'From now on everybody who checks a PDF of the account with POST /verify/public is told this name, for older PDFs too. The service does not check it.',
    body: { schema: PublicNameChange },
    answers: { 200: { description: 'The name.', schema: PublicName } },
  },
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const given = await deps.bodies.readSmall(ctx, deps.config, (body, issues) => {
      const { name } = checkShape(body, issues);
      if (issues.any) return name;
      if (isBlank(name)) issues.add('name', BLANK);
      return name.trim();
    });
    const context = await commandContext(ctx, deps);
    await changePublicName(deps, caller.accountId, given, context);
    ctx.body = { name: given };
  },
};

export const deletePublicName: Endpoint = {
  doc: {
    id: 'removePublicName',
    tag: 'Account',
    summary: 'Remove the public name',
    description: 'People who check a PDF of the account see no name from now on.',
    answers: { 204: { description: 'There is no public name. There is no body.' } },
  },
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const context = await commandContext(ctx, deps);
    await changePublicName(deps, caller.accountId, null, context);
    ctx.status = 204;
  },
};
