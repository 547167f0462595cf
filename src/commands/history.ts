/** `history`: what the log holds about a conversion, a batch or an account. */
import { actorText, type HistoryEntry, memberText } from '../conversions/history.ts';
import { EVENT_TYPES } from '../domain/events.ts';
import { PERSON_ID } from '../domain/ids.ts';
import { choiceOf, type Run, textOption, UsageError } from './command.ts';

const WHOLE_PERSON_ID = new RegExp(`^${PERSON_ID}$`);

/** @param subject what the history is of */
function describe(entry: HistoryEntry, subject: string): string {
  const { time, summary, actor, client_address: address, reason, data, name } = entry;
  const { conversionId: id } = data;
  // The history of one conversion need not repeat its id.
  const isNews = typeof id === 'string' && id !== subject;
  const named = name === undefined || name === id ? '' : ` "${name}"`;
  const member = memberText(actor);
  const by = `${actorText(actor)}${member === undefined ? '' : ` of ${member}`}`;
  const from = address === undefined ? '' : `, from ${address}`;
  const why = reason === undefined ? '' : `, reason: ${reason}`;
  return `${time}  ${summary}${isNews ? `  ${id}${named}` : ''}  (${by}${from}${why})`;
}

export const history: Run = async (invocation, { open, output }) => {
  const [subject = ''] = invocation.positionals;
  const text = textOption(invocation, 'type');
  const type = text === undefined ? undefined : choiceOf(text, EVENT_TYPES);
  if (text !== undefined && type === undefined) {
    throw new UsageError(`--type is one of ${EVENT_TYPES.join(', ')}.`);
  }
  const person = textOption(invocation, 'person');
  if (person !== undefined && !WHOLE_PERSON_ID.test(person)) {
    throw new UsageError("--person is the id of a person, as 'members list' shows it.");
  }
  await open.withOperator(async (api) => {
    const filter = { ...(type && { type }), ...(person && { person }) };
    const all: HistoryEntry[] = [];
    for await (const entry of api.history(subject, filter)) {
      output.line(describe(entry, subject));
      if (output.wantsJson) all.push(entry);
    }
    output.json(all);
  });
};
