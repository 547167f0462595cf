/** A document on its way to paper: the tab that it is in, and the parts that follow it. */

import { resultWithin } from '../../async/with-timeout.ts';
import type { ManifestWait } from '../../domain/render-manifest.ts';
import type { RequestDocument } from '../../domain/request-document.ts';
import type { Cap, Deadline } from './deadline.ts';
import { type Egress, Navigation } from './navigation.ts';
import { BodyHashes } from './page-log.ts';
import { Requests } from './requests.ts';
import type { Tab } from './tab.ts';
import { Worlds } from './worlds.ts';

export type Page = Readonly<ReturnType<typeof followPage>>;

/** The parts must start before the document does. */
export function followPage(tab: Tab, request: RequestDocument, deadline: Deadline, egress: Egress) {
  const hashes = new BodyHashes(tab);
  const requests = new Requests(tab, (each) => hashes.ask(each));
  const navigation = new Navigation(tab, egress, requests);
  const worlds = new Worlds(tab);
  const waits = new Waits();
  return { tab, request, deadline, egress, hashes, requests, navigation, worlds, waits };
}

/** Settles as `promise` does, or resolves to undefined at the cap of the wait. Rejects at once when the tab dies. */
export async function upTo<T>(
  { tab, deadline }: Page,
  cap: Cap,
  promise: Promise<T>,
): Promise<T | undefined> {
  return await resultWithin(tab.untilGone(promise), deadline.share(cap));
}

/**
 * Waits for the content of the document shown, as long as a load may take.
 * @throws {PageFailure} when it does not come whole
 */
export async function untilWhole(page: Page, coming: Promise<void>): Promise<void> {
  const cap = page.deadline.share('load');
  await resultWithin(page.tab.untilGone(coming), cap);
  page.navigation.checkWhole(cap);
}

/** The waits for a document, and which of them were given up. */
export class Waits {
  readonly list: ManifestWait[] = [];

  note(what: ManifestWait['for'], ms: number, capped = false): void {
    this.list.push({ for: what, ms, ...(capped ? { capped } : {}) });
  }

  /** @param held tells by the result if the wait ended as it should; default: always */
  async measure<T>(
    what: ManifestWait['for'],
    wait: Promise<T>,
    held: (result: T) => boolean = () => true,
  ): Promise<T> {
    const started = performance.now();
    const result = await wait;
    this.note(what, performance.now() - started, !held(result));
    return result;
  }
}
