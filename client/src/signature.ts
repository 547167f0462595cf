/** The certificate that the PDFs of the account are signed with, where their request has `pdf.sign`. */
import type { CallOptions } from './options.ts';
import type { Requests } from './requests.ts';

export interface SignatureCertificate {
  /** The names of its owner and of its issuer, such as `CN=Ada Lovelace, O=Analytical Engines Ltd`. */
  subject: string;
  issuer: string;
  /** The time when it expires. */
  not_after: string;
}

const PATH = '/account/signature/';

export class Signature {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /**
   * Sets the certificate, in the place of an earlier one. Its key is never shown again.
   * @param p12 the bytes of a PKCS#12 file, or their base64
   */
  set(
    p12: Uint8Array | string,
    password: string,
    options: CallOptions = {},
  ): Promise<SignatureCertificate> {
    const text = typeof p12 === 'string' ? p12 : base64Of(p12);
    const body = { p12: text, password };
    return this.#requests.json('PUT', PATH, { ...options, body, repeatable: true });
  }

  /** @throws {PressledgerError} `not_found`: the account has none */
  get(options: CallOptions = {}): Promise<SignatureCertificate> {
    return this.#requests.json('GET', PATH, options);
  }

  /** @throws {PressledgerError} `not_found`: the account has none */
  remove(options: CallOptions = {}): Promise<void> {
    return this.#requests.remove(PATH, options);
  }
}

const base64Of = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join(''));
