/**
 * Whose fault a crash is. Of some header and footer templates Chrome's tab dies, or does not print, each
 * time, so that another try is in vain; of a page that crashes nothing of the kind is known.
 */
import type { PrintOptions } from '../../domain/events.ts';
import type { RequestDocument } from '../../domain/request-document.ts';
import type { Connection } from './connection.ts';
import type { Deadline } from './deadline.ts';
import { ChromeGone, PageFailure } from './failure.ts';
import { writeDocument } from './load.ts';
import { printPage } from './print.ts';
import { Tab } from './tab.ts';

/**
 * Prints the templates of a document that crashed in a new tab, around nothing.
 * @returns the failure that they are, where that tab dies of them too, or does not print
 */
export async function templateFault(
  connection: Connection,
  request: RequestDocument,
  options: PrintOptions,
  deadline: Deadline,
): Promise<PageFailure | undefined> {
  const { header_html, footer_html } = request;
  const framed = header_html !== undefined || footer_html !== undefined;
  if (!framed || !connection.isOpen) return undefined;
  const { page_ranges: _, ...alone } = options;
  let tab: Tab | undefined;
  try {
    tab = await Tab.open(connection);
    tab.begin(deadline);
    await writeDocument(tab, '<p></p>');
    await printPage(tab, alone, request);
    return undefined;
  } catch (cause) {
    if (cause instanceof PageFailure && cause.code === 'renderer_failed') return cause;
    if (!(cause instanceof ChromeGone) || tab?.crashed !== true) return undefined;
    return new PageFailure(
      'renderer_failed',
      'The browser crashes on the header or footer. They cannot load external files.',
      { cause },
    );
  } finally {
    await tab?.close();
  }
}
