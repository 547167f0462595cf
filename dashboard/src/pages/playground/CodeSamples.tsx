import { LANGUAGES } from '../../../../samples/all.ts';
import { jsonOf, REQUEST_FILE, sampleRequest } from '../../../../samples/json.ts';
import { Button } from '../../ui/Button.tsx';
import { Code } from '../../ui/Code.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { Tabs } from '../../ui/Tabs.tsx';
import styles from './Playground.module.css';
import type { Values } from './request.ts';

/** The request as the source text of programs. */
export function CodeSamples({ request }: { readonly request: Values }) {
  const made = sampleRequest(request, location.origin);
  const save = () =>
    saveFile(new Blob([jsonOf(request)], { type: 'application/json' }), REQUEST_FILE);
  return (
    <>
      {made.json === undefined && (
        <div className={styles.inline}>
          <p>
            The request is too long to be shown here. The samples read it from{' '}
            <code>{REQUEST_FILE}</code>.
          </p>
          <Button small icon="download" onPress={save}>
            Download {REQUEST_FILE}
          </Button>
        </div>
      )}
      <Tabs
        label="Languages"
        tabs={LANGUAGES.map(({ id, title, sample }) => ({
          id,
          title,
          content: <Code code={sample(made)} copyLabel={`Copy the ${title} sample`} />,
        }))}
      />
    </>
  );
}
