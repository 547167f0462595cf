/** Sends mails by a server that takes them. */
export interface Mailer {
  /** @throws {unknown} the signal's reason, once it is aborted: it is not known then whether the server has taken it */
  send(mail: OutgoingMail, signal: AbortSignal): Promise<MailAnswer>;
  close(): void;
}

export interface OutgoingMail {
  /** The same for each try, so that whoever gets it twice can tell. */
  readonly id: string;
  /** One address, without a name. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** What the server made of a mail. */
export type MailAnswer =
  | { readonly outcome: 'accepted' }
  /** It will never take it, or the address is not one. */
  | { readonly outcome: 'refused'; readonly status?: number }
  /** It did not take this one now. */
  | { readonly outcome: 'deferred'; readonly status: number }
  /** It gave no answer to this one, and may have taken it. */
  | { readonly outcome: 'unanswered'; readonly failure: 'timeout' | 'connection_failed' }
  /** It takes no mail at all now. The reason is for the operator, in one line. */
  | { readonly outcome: 'unavailable'; readonly reason: string };
