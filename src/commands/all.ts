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
const STORE = "Settings come from the environment; 'pressledger start --help' lists them.";

const SECTIONS: readonly (Section & { readonly commands: readonly Command[] })[] = [
  { heading: 'Run the service', commands: RUN },
  { heading: 'Look at the service on this machine', note: STORE, commands: LOOK },
  {
    heading: 'Convert',
    note: `${SERVICE} Without a service, or with --account, this machine converts. ${STORE}`,
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
    note: STORE,
    commands: [...ACCOUNTS, ...MEMBERS, ...LOG],
  },
  {
    heading: 'Verify',
    note: `verify-evidence asks no service and no store. ${SERVICE} Without a service, or with --account, verify-pdf asks the store on this machine. ${STORE}`,
    commands: VERIFY,
  },
  { heading: 'Other', commands: OTHER },
];

const commands = SECTIONS.flatMap(({ commands: listed, ...section }) =>
  listed.map((command): Command => ({ ...command, section })),
);

export const allCommands: readonly Command[] = [
  ...commands,
  ...completionCommands(commands, { heading: 'Other' }),
];
