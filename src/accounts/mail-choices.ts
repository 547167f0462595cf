/** The mails that a person wants. */
import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { OPTIONAL_MAILS, type OptionalMail } from '../domain/choices.ts';
import { personAggregate } from '../domain/person.ts';

type Choices = Readonly<Record<OptionalMail, boolean>>;

const choicesWithout = (off: readonly OptionalMail[]): Choices =>
  Object.fromEntries(OPTIONAL_MAILS.map((kind) => [kind, !off.includes(kind)])) as Choices;

export async function mailsOf(
  { actors }: { readonly actors: ActorSystem },
  personId: string,
): Promise<Choices> {
  return choicesWithout((await actors.read(personAggregate, personId)).state.mailsOff);
}

/** @param change kinds that are not named stay as they are */
export async function chooseMails(
  deps: { readonly actors: ActorSystem },
  personId: string,
  accountId: string,
  change: Partial<Choices>,
  context: CommandContext,
): Promise<void> {
  const wanted = { ...(await mailsOf(deps, personId)), ...change };
  const off = OPTIONAL_MAILS.filter((kind) => !wanted[kind]);
  const command = { type: 'ChangePersonMails', personId, accountId, off } as const;
  orThrow(await deps.actors.send(personAggregate, personId, command, context));
}
