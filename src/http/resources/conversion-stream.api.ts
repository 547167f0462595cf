import Type from 'typebox';
import type { OperationDoc } from '../openapi/operation.ts';

export const streamConversionsDoc: OperationDoc = {
  id: 'streamConversions',
  tag: 'Conversions',
  summary: 'Follow conversions',
  description:
    'Server-sent events, for as long as the client stays connected: an event `conversion` for each change of a conversion of the account. Its data is the conversion as it is then, and its id a position of the log. Changes that follow each other quickly may come as one event. Send the last id as `Last-Event-ID` to go on after a lost connection, with all that has changed since. An event `reset` says that too much has changed: list the conversions again. A line `: ping` comes every 15 seconds. The stream ends when the credential ends; with an access token, connect again with a new one.',
  parameters: [
    {
      name: 'Last-Event-ID',
      in: 'header',
      description:
        'The id of the last event that the client has received. Without it, the stream begins with the next change.',
      schema: Type.String(),
    },
  ],
  answers: { 200: { description: 'The events.', media: 'text/event-stream' } },
  errors: {
    validation_error: {
      when: 'The Last-Event-ID is not the id of an event, or a query parameter was sent.',
      message: 'Last-Event-ID: Must be the id of an event of this stream.',
      details: { 'Last-Event-ID': ['Must be the id of an event of this stream.'] },
    },
    rate_limit_exceeded: {
      when: 'More requests than a minute allows, or too many streams of the account are open.',
    },
  },
};
