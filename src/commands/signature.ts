/** The certificate that the PDFs of your account at a service are signed with. */
import { readFile } from 'node:fs/promises';
import type { SignatureCertificate } from '../../client/src/signature.ts';
import { errorMessage } from '../errors/error-message.ts';
import { type CommandContext, type Run, secretFromInput, UsageError } from './command.ts';
import { recordRows, serviceOf } from './service.ts';

function tell({ output }: CommandContext, certificate: SignatureCertificate): void {
  output.json(certificate);
  output.table([], recordRows({ ...certificate }));
}

export const signatureSet: Run = async (invocation, context) => {
  if (invocation.values['password-stdin'] !== true) {
    throw new UsageError('Give --password-stdin, and the password of the file on standard input.');
  }
  const [file = ''] = invocation.positionals;
  const p12 = await readFile(file).catch((cause: unknown) => {
    throw new Error(`${file} cannot be read: ${errorMessage(cause)}`, { cause });
  });
  const password = await secretFromInput();
  const { client } = await serviceOf(invocation, context);
  tell(context, await client.signature.set(p12, password));
};

export const signatureShow: Run = async (invocation, context) => {
  const { client } = await serviceOf(invocation, context);
  tell(context, await client.signature.get());
};

export const signatureRemove: Run = async (invocation, context) => {
  const { client } = await serviceOf(invocation, context);
  await client.signature.remove();
  context.output.json({});
  context.output.line(
    'The certificate is removed, and its private key is destroyed; older copies of the keyring still have it. ' +
      'Revoke the certificate at its issuer if the key may be known.',
  );
};
