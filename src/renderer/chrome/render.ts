/** One document, from request to PDF, in a tab of its own. */
import type { PrintOptions } from '../../domain/events.ts';
import type { RequestDocument } from '../../domain/request-document.ts';
import type { Connection } from './connection.ts';
import type { Deadline } from './deadline.ts';
import { loadDocument } from './load.ts';
import { NetworkActivity } from './network-activity.ts';
import { type PdfFile, savePdf } from './pdf-file.ts';
import { pageRangeFailure, pagesAskedFor, printPage } from './print.ts';
import { settle, waitFor } from './ready.ts';
import { Tab } from './tab.ts';
import { DocumentWatch, type ExplainNetwork } from './watch.ts';

export interface RenderOrder {
  readonly request: RequestDocument;
  readonly options: PrintOptions;
  /** A file that is not there yet. */
  readonly outputPath: string;
  readonly explainNetwork: ExplainNetwork;
}

export interface RenderedDocument extends PdfFile {
  /** Milliseconds of each phase. */
  readonly timings: { readonly load: number; readonly ready: number; readonly print: number };
}

/**
 * @param onUnclean told when something of this document may be left in the browser
 * @throws {PageFailure} when the page is at fault
 * @throws {ChromeGone} when the tab or the browser died
 */
export async function renderDocument(
  connection: Connection,
  order: RenderOrder,
  deadline: Deadline,
  onUnclean: () => void,
): Promise<RenderedDocument> {
  const tab = await Tab.open(connection, deadline).catch((error: unknown) => {
    onUnclean();
    throw error;
  });
  try {
    return await renderInTab(tab, order, deadline);
  } finally {
    // A tab that cannot be closed takes its browser with it: nothing may run on beside the next job.
    if (!(await tab.close())) onUnclean();
  }
}

async function renderInTab(
  tab: Tab,
  order: RenderOrder,
  deadline: Deadline,
): Promise<RenderedDocument> {
  const { request, options } = order;
  const started = performance.now();
  const network = request.wait_for?.network_idle === true ? new NetworkActivity(tab) : undefined;
  const [watch] = await Promise.all([
    DocumentWatch.start(tab, order.explainNetwork),
    tab.send('Emulation.setEmulatedMedia', { media: options.media }),
    options.javascript
      ? undefined
      : tab.send('Emulation.setScriptExecutionDisabled', { value: true }),
  ]);

  const { loaded, syntheticOrigin } = await loadDocument(tab, request, watch, deadline);
  if (loaded) deadline.phase = 'was getting ready';
  const loadedAt = performance.now();

  if (request.wait_for) await waitFor(tab, request.wait_for, network, deadline);
  // What has not come by now is given up: Chrome would wait for it again, two seconds, before printing.
  if (!loaded) await tab.send('Page.stopLoading', undefined);
  const settled = await settle(tab, watch, deadline);
  if (!settled) await tab.send('Page.stopLoading', undefined);
  // The page may have moved on to another by itself.
  watch.check();
  if (loaded && settled) deadline.phase = 'was being printed';
  const readyAt = performance.now();

  const stream = await printPage(tab, options, request);
  const file = await savePdf(tab, stream, {
    path: order.outputPath,
    metadata: request.metadata,
    syntheticOrigin,
  });
  const ranges = options.page_ranges;
  if (ranges !== undefined && file.pages < pagesAskedFor(ranges)) throw pageRangeFailure(ranges);
  return {
    ...file,
    timings: {
      load: loadedAt - started,
      ready: readyAt - loadedAt,
      print: performance.now() - readyAt,
    },
  };
}
