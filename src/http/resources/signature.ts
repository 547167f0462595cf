/** The certificate that the account's PDFs are signed with. */
import { removeSignature, setSignature, signatureOf } from '../../accounts/signature.ts';
import { NO_SIGNATURE } from '../../domain/signature.ts';
import { isBase64 } from '../../requests/files.ts';
import { compile } from '../../requests/validation.ts';
import { callerOf, commandContext } from '../context.ts';
import { Closed, Text, Timestamp } from '../openapi/fields.ts';
import { type Endpoint, wrongField } from '../openapi/operation.ts';

/** The answer of `GET /account/signature/`. */
export const Signature = Closed({
  subject: Text('CN=Ada Lovelace, O=Analytical Engines Ltd, C=GB', 'Whose certificate it is.'),
  issuer: Text('CN=Example Signing CA, O=Example Trust, C=GB', 'Who issued the certificate.'),
  not_after: Timestamp('The time when it expires.', '2028-11-21T08:15:30.000Z'),
});

/** `MAX_PKCS12_BYTES` in base64. That module is loaded only when a file comes. */
const MAX_CHARACTERS = 60_000;

/** The body of `PUT /account/signature/`. */
export const SignatureChange = Closed({
  p12: Text(
    'MIIKXwIBAzCCChUGCSqGSIb3DQEHAaCCCgYEggoCMIIJ/jCCBGoGCSqGSIb3DQEHBg==',
    'The certificate with its private key and the certificates of its issuers as a PKCS#12 file (.p12, .pfx), in base64. The key is RSA of 2048 to 4096 bits, or ECDSA with P-256 or P-384.',
    { maxLength: MAX_CHARACTERS, contentEncoding: 'base64' },
  ),
  password: Text('correct horse battery', 'The password of the file.', {
    format: 'password',
    maxLength: 1024,
  }),
});

const checkChange = compile(SignatureChange);
const WITHOUT_ONE = {
  when: 'The account has no certificate.',
  message: NO_SIGNATURE,
};
const tag = 'Account';

export const putSignature: Endpoint = {
  doc: {
    id: 'setSignature',
    tag,
    summary: 'Set the certificate for signatures',
    description:
      'PDFs whose request has pdf.sign are signed with it. It takes the place of an earlier one. The key is kept encrypted with a data key that only this certificate has, and is never shown again.',
    body: { schema: SignatureChange },
    answers: { 200: { description: 'The certificate was set.', schema: Signature } },
    errors: {
      rate_limit_exceeded:
        'The rate limit was exceeded, or another file of the account is being opened.',
      validation_error: wrongField(
        'password',
        'The password does not open the file.',
        'The password does not open the file, the file cannot be read, nothing can be signed with its key or certificate, or fields are missing, unknown or invalid.',
      ),
    },
  },
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const { file, password } = await deps.bodies.readSmall(ctx, deps.config, (body, issues) => {
      const { p12, password: given } = checkChange(body, issues);
      const isText = !issues.has('p12');
      if (isText && !isBase64(p12)) {
        issues.add('p12', 'Must be base64 with its padding, and without line breaks.');
      }
      return { file: isText ? Buffer.from(p12, 'base64') : Buffer.alloc(0), password: given };
    });
    const context = await commandContext(ctx, deps);
    ctx.body = await setSignature(deps, accountId, { file, password }, context);
  },
};

export const getSignature: Endpoint = {
  doc: {
    id: 'getSignature',
    tag,
    summary: 'Retrieve the certificate for signatures',
    description: 'Whose it is, who issued it and when it expires. Its key is never shown.',
    answers: { 200: { description: 'The certificate.', schema: Signature } },
    errors: { not_found: WITHOUT_ONE },
  },
  handler: (deps) => async (ctx) => {
    ctx.body = await signatureOf(deps, callerOf(ctx).accountId, ctx.state.asOf);
  },
};

export const deleteSignature: Endpoint = {
  doc: {
    id: 'removeSignature',
    tag,
    summary: 'Remove the certificate for signatures',
    description:
      'What was signed stays signed. Conversions that were requested with pdf.sign and are not signed yet fail. Nothing is signed with the private key any more, and the data key that it is encrypted with is destroyed, mostly within a second; SignatureKeyDestroyed in the history says when. Older copies of the keyring still have that data key. Revoke the certificate at its issuer if the private key may be known.',
    answers: { 204: { description: 'The certificate was removed. There is no body.' } },
    errors: { not_found: WITHOUT_ONE },
  },
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    await removeSignature(deps, accountId, await commandContext(ctx, deps));
    ctx.status = 204;
  },
};
