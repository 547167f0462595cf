import { Button } from '../../ui/Button.tsx';
import { Code } from '../../ui/Code.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { Tabs } from '../../ui/Tabs.tsx';
import type { Values } from './request.ts';
import { csharpSample } from './samples/csharp.ts';
import { curlSample } from './samples/curl.ts';
import { goSample } from './samples/go.ts';
import { jsonOf, REQUEST_FILE, type SampleRequest, sampleRequest } from './samples/json.ts';
import { pythonSample } from './samples/python.ts';
import { typescriptSample } from './samples/typescript.ts';
import styles from './Playground.module.css';

interface Language {
  readonly id: string;
  readonly title: string;
  readonly sample: (request: SampleRequest) => string;
}

const LANGUAGES: readonly Language[] = [
  { id: 'curl', title: 'curl', sample: curlSample },
  { id: 'typescript', title: 'TypeScript', sample: typescriptSample },
  { id: 'python', title: 'Python', sample: pythonSample },
  { id: 'csharp', title: 'C#', sample: csharpSample },
  { id: 'go', title: 'Go', sample: goSample },
];

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
