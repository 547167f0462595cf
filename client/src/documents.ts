/** Work on finished PDFs. */
import type { Batch } from './batches.ts';
import type {
  ConversionOptions,
  PdfAttachment,
  PdfEncryption,
  PdfOptions,
  PdfStamp,
} from './conversion-options.ts';
import { type ConvertOptions, testedPath } from './options.ts';
import type { Requests } from './requests.ts';
import type { AcceptedConversion } from './types.ts';

/** A PDF that is sent, in base64, or that of a completed conversion. */
export type DocumentSource = { password?: string } & (
  | { file: string; conversion?: never }
  | { conversion: string; file?: never }
);

/** What is done, in this order. `encrypt` and `optimize` come last. */
export type DocumentStep =
  | { type: 'merge' | 'optimize' }
  | {
      type: 'pages';
      /** @example '3, 1-2' */
      pages: string;
    }
  | { type: 'rotate'; rotate: 90 | 180 | 270; pages?: string }
  | ({ type: 'stamp' } & PdfStamp)
  | { type: 'attach'; attachments: PdfAttachment[] }
  | { type: 'metadata'; title?: string; author?: string; subject?: string; keywords?: string[] }
  | ({ type: 'encrypt' } & PdfEncryption);

/** What names the conversion, and how long it is kept. */
export type DocumentOptions = Pick<
  ConversionOptions,
  'filename' | 'reference' | 'tags' | 'webhook_url' | 'retention_seconds' | 'priority'
> & {
  /** What the result is to be, after all steps. */
  pdf?: Pick<PdfOptions, 'sign'>;
};

export class Documents {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /**
   * Has PDFs joined in their order and worked on, step by step; resolves as soon as that is accepted. Follow it with
   * `client.wait`. Only with an idempotency key is the request repeated when the service is busy or does not answer.
   * @example const { id } = await client.documents.create([{ conversion: a }, { conversion: b }]);
   * @throws {PressledgerError} nothing was accepted; `details` names each mistake as `sources.0.file`
   */
  create(
    sources: readonly DocumentSource[],
    steps: readonly DocumentStep[] = [],
    options: DocumentOptions & ConvertOptions = {},
  ): Promise<AcceptedConversion> {
    return this.#post({ sources, steps }, options);
  }

  /**
   * Makes a conversion of each part, such as `['1-2', '3']`, after the other steps.
   * @throws {PressledgerError} nothing was accepted
   */
  split(
    sources: readonly DocumentSource[],
    parts: readonly string[],
    steps: readonly DocumentStep[] = [],
    options: DocumentOptions & ConvertOptions = {},
  ): Promise<Batch> {
    return this.#post({ sources, steps: [...steps, { type: 'split', parts }] }, options);
  }

  #post<T>(
    work: object,
    { idempotencyKey, test, signal, ...named }: DocumentOptions & ConvertOptions,
  ): Promise<T> {
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    const repeatable = idempotencyKey !== undefined;
    const body = { ...work, ...named };
    const path = testedPath('/documents/', test);
    return this.#requests.json('POST', path, { body, headers, repeatable, signal });
  }
}
