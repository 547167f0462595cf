/** A document on its way to paper: the tab that it is in, and the parts that follow it. */
import type { RequestDocument } from '../../domain/request-document.ts';
import type { Deadline } from './deadline.ts';
import { type Egress, Navigation } from './navigation.ts';
import { NetworkActivity } from './network-activity.ts';
import type { Tab } from './tab.ts';
import { Waits } from './waits.ts';
import { Worlds } from './worlds.ts';

export interface Page {
  readonly tab: Tab;
  readonly request: RequestDocument;
  readonly deadline: Deadline;
  readonly egress: Egress;
  readonly network: NetworkActivity;
  readonly navigation: Navigation;
  readonly worlds: Worlds;
  readonly waits: Waits;
}

/** The parts must start before the document does. */
export const followPage = (
  tab: Tab,
  request: RequestDocument,
  deadline: Deadline,
  egress: Egress,
): Page => ({
  tab,
  request,
  deadline,
  egress,
  network: new NetworkActivity(tab),
  navigation: new Navigation(tab, egress),
  worlds: new Worlds(tab),
  waits: new Waits(),
});
