/** The registry: every command of the command line, in the order in which help lists them. */
import type { Command, Section } from './command.ts';
import { completionCommands } from './completion.ts';
import { ACCOUNTS } from './table/accounts.ts';
import { BATCHES } from './table/batches.ts';
import { DOCUMENTS } from './table/documents.ts';
import { LOG } from './table/log.ts';
import { MEMBERS } from './table/members.ts';
import { CONVERT, LOOK, OTHER, RUN, SIGN_IN, VERIFY } from './table/service.ts';
import { TEMPLATES } from './table/templates.ts';
import { USE } from './table/use.ts';
import { WEBHOOKS } from './table/webhooks.ts';

const SERVICE =
  'Service and key come from the options, from PRESSLEDGER_SERVER and PRESSLEDGER_API_KEY, or from ' +
  "'pressledger login', in this order.";
const ALL = "Settings come from the environment; 'pressledger start --help' lists them.";
const STORE =
  'set DATA_DIR, EVENT_STORE_URL, NATS_URL, BLOB_STORE_URL and MASTER_KEY in the environment as the service has them.';
const ASKS = `It asks the service that runs on DATA_DIR, and needs no other setting then. If no service runs there, it opens the store: ${STORE}`;
const OPENS = `It opens the store, also beside a running service: ${STORE}`;

const SECTIONS: readonly (Section & { readonly commands: readonly Command[] })[] = [
  { heading: 'Run the service', commands: RUN },
  { heading: 'Look at the service on this machine', note: ASKS, commands: LOOK },
  {
    heading: 'Convert',
    note: `${SERVICE} Without a service, or with --account, this machine converts. ${ASKS}`,
    commands: CONVERT,
  },
  { heading: 'Use a service', commands: SIGN_IN },
  {
    heading: 'Use a service',
    note: SERVICE,
    commands: [...DOCUMENTS, ...USE, ...BATCHES, ...TEMPLATES, ...WEBHOOKS],
  },
  {
    heading: 'Administer the service on this machine',
    note: ASKS,
    commands: [...ACCOUNTS, ...MEMBERS, ...LOG],
  },
  {
    heading: 'Verify',
    note: `verify-evidence asks no service and no store. ${SERVICE} Without a service, or with --account, verify-pdf asks this machine. ${ASKS}`,
    commands: VERIFY,
  },
  { heading: 'Other', commands: OTHER },
];

const commands = SECTIONS.flatMap(({ commands: listed, ...section }) =>
  listed.map((command): Command => {
    const { name, opensStore } = command;
    const note = opensStore ? OPENS : name === 'doctor' ? ALL : undefined;
    return { ...command, section: note === undefined ? section : { ...section, note } };
  }),
);

export const allCommands: readonly Command[] = [
  ...commands,
  ...completionCommands(commands, { heading: 'Other' }),
];
