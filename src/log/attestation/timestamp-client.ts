/** Asks a timestamp authority (RFC 3161, over HTTP) when a text, or a signature, was there. */
import { randomBytes } from 'node:crypto';
import { errorMessage } from '../../errors/error-message.ts';
import type { TimestampAuthority } from './port.ts';
import { post } from './post.ts';

const SHA_256 = '2.16.840.1.101.3.4.2.1';
const TST_INFO = '1.2.840.113549.1.9.16.1.4';

export function createTimestampAuthority(url: string, timeoutMs = 10_000): TimestampAuthority {
  return {
    name: new URL(url).host,
    timestamp: async (content, stopping) => {
      // Loading it takes longer than it is used, and most deployments have no authority.
      const pki = await import('pkijs');
      const asn1 = await import('asn1js');
      const message = typeof content === 'string' ? Buffer.from(content) : content;
      const messageImprint = await pki.MessageImprint.create('SHA-256', message);
      // 64 bits as a positive integer, in the one form that DER has for it.
      const nonce = Buffer.concat([Buffer.from([1]), randomBytes(7)]);
      const query = new pki.TimeStampReq({
        version: 1,
        messageImprint,
        nonce: new asn1.Integer({ valueHex: nonce }),
        certReq: true,
      });
      const answer = await post(
        url,
        'application/timestamp-query',
        new Uint8Array(query.toSchema().toBER()),
        { timeoutMs, stopping },
      );
      if (answer.status !== 200) throw new Error(`it answered with status ${answer.status}`);
      if (answer.contentType !== 'application/timestamp-reply') {
        throw new Error(`it answered with ${answer.contentType || 'no content type'}`);
      }
      return verifiedToken(answer.body, message, nonce);
    },
  };
}

/** Takes the token out of an answer, byte for byte. @throws {Error} it is not what was asked for */
async function verifiedToken(answer: Buffer, message: Buffer, nonce: Buffer): Promise<Buffer> {
  const [pki, asn1] = await Promise.all([import('pkijs'), import('asn1js')]);
  const { offset, result } = reading(() => asn1.fromBER(new Uint8Array(answer)));
  if (offset !== answer.length || !(result instanceof asn1.Sequence)) {
    throw new Error('its answer is not a timestamp response');
  }
  const { status, statusStrings } = reading(() => new pki.TimeStampResp({ schema: result })).status;
  // Changes that matter are seen below.
  if (status !== pki.PKIStatus.granted && status !== pki.PKIStatus.grantedWithMods) {
    const reasons = (statusStrings ?? []).map((each) => each.valueBlock.value).join(' ');
    throw new Error(`it refused with status ${status}: ${reasons.slice(0, 200) || 'no reason'}`);
  }
  const token = result.valueBlock.value[1];
  if (!token) throw new Error('its answer has no timestamp');
  const signed = reading(() => {
    const { content } = new pki.ContentInfo({ schema: token });
    return new pki.SignedData({ schema: content });
  });
  const info = reading(() => {
    const { eContentType, eContent } = signed.encapContentInfo;
    if (eContentType !== TST_INFO || !eContent) throw new Error('another content');
    return pki.TSTInfo.fromBER(eContent.getValue());
  });
  const { hashAlgorithm, hashedMessage } = info.messageImprint;
  const imprint = await pki.MessageImprint.create('SHA-256', message);
  const isOfMessage =
    hashAlgorithm.algorithmId === SHA_256 && imprint.hashedMessage.isEqual(hashedMessage);
  if (!isOfMessage) throw new Error('its timestamp is of something else');
  if (!info.nonce || !nonce.equals(info.nonce.valueBlock.valueHexView)) {
    throw new Error('its timestamp answers another request');
  }
  const holds = await signed
    .verify({ signer: 0, data: new Uint8Array(message).buffer })
    .catch((error: unknown) => {
      throw new Error(`the signature of its timestamp cannot be verified: ${errorMessage(error)}`);
    });
  if (!holds) throw new Error('the signature of its timestamp does not hold');
  return Buffer.from(token.valueBeforeDecodeView);
}

function reading<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new Error('its answer is not a timestamp response', { cause });
  }
}
