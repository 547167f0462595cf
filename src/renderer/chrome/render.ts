/** One document, from request to PDF, in a tab that is its account's. */
import type { PrintOptions } from '../../domain/events.ts';
import type { RequestDocument } from '../../domain/request-document.ts';
import type { PdfFile } from '../pdf/finish.ts';
import { completePage } from './complete.ts';
import type { Connection } from './connection.ts';
import type { Deadline } from './deadline.ts';
import { PageFailure } from './failure.ts';
import { IsolatedWorld } from './isolated-world.ts';
import { type DocumentSource, loadDocument, untilWhole, writeDocument } from './load.ts';
import { type ExplainNetwork, Navigation } from './navigation.ts';
import { NetworkActivity } from './network-activity.ts';
import { PageClocks } from './page-clock.ts';
import {
  BodyHashes,
  noteBrokenImages,
  type PageErrors,
  ResourceLog,
  readPageErrors,
} from './page-log.ts';
import { type PrintOrder, printPage, savePrinted } from './print.ts';
import { settle, waitFor } from './ready.ts';
import { BUDGET_MS, RunAhead } from './run-ahead.ts';
import { Tab } from './tab.ts';
import { drawFrames } from './view.ts';
import { Waits } from './waits.ts';

export interface RenderOrder extends DocumentSource, PrintOrder {
  readonly explainNetwork: ExplainNetwork;
}

export interface RenderedDocument extends PdfFile {
  /** Milliseconds of each phase. */
  readonly timings: { readonly load: number; readonly ready: number; readonly print: number };
  readonly log: Pick<ResourceLog, 'resources' | 'leftOut'>;
  readonly errors: PageErrors;
  readonly waits: Waits;
}

/** A step of a page that takes longer may wait for frames. Those of most pages do not. */
const UNHURRIED_MS = 100;

/**
 * Loads a document, completes it and prints it. Leaves the tab as the document left it: the owner closes or resets it.
 * @throws {PageFailure} when the page is at fault
 * @throws {ChromeGone} when the tab or the browser died
 */
export async function renderDocument(
  tab: Tab,
  order: RenderOrder,
  deadline: Deadline,
): Promise<RenderedDocument> {
  const started = performance.now();
  tab.begin(deadline);
  const observers = observe(tab, order);
  const { hashes, log, navigation, waits, world } = observers;
  await prepare(tab, order.options);
  const loading = loadDocument(tab, order, navigation, deadline);
  const { loaded, capped, syntheticOrigin } = await tab.frames.during(loading, UNHURRIED_MS);
  if (loaded) deadline.phase = 'was getting ready';
  const loadedAt = performance.now();
  waits.note('load', loadedAt - started, capped);

  const settled = await tab.frames.during(
    completeLoaded(tab, order, observers, loaded, deadline),
    order.request.wait_for ? 0 : UNHURRIED_MS,
  );
  if (loaded && settled) deadline.phase = 'was being printed';
  const readyAt = performance.now();

  const stream = await printPage(tab, order.options, order.request);
  const [file, errors] = await Promise.all([
    savePrinted(tab, order, stream, syntheticOrigin),
    readPageErrors(tab),
    hashes.settled(),
    noteBrokenImages(world, log),
  ]);
  return {
    ...file,
    timings: {
      load: loadedAt - started,
      ready: readyAt - loadedAt,
      print: performance.now() - readyAt,
    },
    log,
    errors,
    waits,
  };
}

/** The parts that follow a document. They must start before it does. */
interface Observers {
  readonly network: NetworkActivity;
  readonly world: IsolatedWorld;
  readonly clocks: PageClocks;
  readonly hashes: BodyHashes;
  readonly log: ResourceLog;
  readonly navigation: Navigation;
  readonly waits: Waits;
}

function observe(tab: Tab, { explainNetwork }: RenderOrder): Observers {
  const world = new IsolatedWorld(tab);
  const hashes = new BodyHashes(tab);
  return {
    network: new NetworkActivity(tab),
    world,
    clocks: new PageClocks(tab, world),
    hashes,
    log: new ResourceLog(tab, (resource) => hashes.ask(resource)),
    navigation: new Navigation(tab, explainNetwork),
    waits: new Waits(),
  };
}

async function prepare(tab: Tab, { media, javascript }: PrintOptions): Promise<void> {
  await tab.ping('Emulation.setEmulatedMedia', { media });
  if (javascript) return;
  // It would hold for the tab's next document too.
  tab.markTainted();
  await tab.send('Emulation.setScriptExecutionDisabled', { value: true });
}

/**
 * Waits for what the client and the page's scripts ask for, and until all of it is there.
 * @returns false when fonts or images were given up
 */
async function completeLoaded(
  tab: Tab,
  { request, options }: RenderOrder,
  { clocks, navigation, network, waits, world }: Observers,
  loaded: boolean,
  deadline: Deadline,
): Promise<boolean> {
  if (request.wait_for) await waitFor(tab, request.wait_for, { world, network }, deadline, waits);
  // A load that has not ended is given up: Chrome would wait for it again, two seconds, before printing.
  if (!loaded) await tab.send('Page.stopLoading', undefined);
  const idle = waits.list.find((each) => each.for === 'network_idle' && each.capped);
  const runAhead = new RunAhead(
    { tab, clocks, navigation, network, deadline, waits, networkGivenUpMs: idle?.ms },
    request.wait_for?.budget_ms ?? BUDGET_MS,
  );
  const asked = await completePage({
    tab,
    world,
    runAhead,
    deadline,
    waits,
  });
  await untilWhole(tab, navigation, deadline);
  const settled = await settle(tab, world, navigation, deadline, waits);
  if (!settled) await tab.send('Page.stopLoading', undefined);
  if (asked.asksPrint && options.media === 'print') {
    // Its listeners hear of printing only if the medium changes then.
    await tab.send('Emulation.setEmulatedMedia', { media: '' });
    await drawFrames(tab, world, deadline);
  }
  await untilWhole(tab, navigation, deadline);
  return settled;
}

/**
 * Prints the templates of a document that crashed in a new tab, around nothing. Some header and footer
 * templates crash Chrome's tab each time, so that another try is in vain.
 * @returns the failure that they are, where that tab dies of them too, or does not print
 */
export async function templateFailure(
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
    if (tab?.crashed !== true) return undefined;
    return new PageFailure(
      'renderer_failed',
      'The browser crashes on the header or footer. They cannot load external files.',
      { cause },
    );
  } finally {
    await tab?.close();
  }
}
