import {
  emptyLogUrl,
  needsEventStoreServer,
  openEventStoreServer,
} from '../support/event-store-server.ts';
import { type OpenedEventStore, runEventStoreContract } from './event-store-contract.ts';

async function openAt(url: string): Promise<OpenedEventStore> {
  const store = await openEventStoreServer(url);
  return {
    store,
    another: () => openAt(url),
    close: () => store.close(),
  };
}

runEventStoreContract({
  name: 'KurrentDB',
  open: () => openAt(emptyLogUrl()),
  options: needsEventStoreServer,
});
