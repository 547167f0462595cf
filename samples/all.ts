/** Programs that convert one request and keep its PDF, as the reference page and the playground show them. */
import { csharpSample } from './csharp.ts';
import { curlSample } from './curl.ts';
import { goSample } from './go.ts';
import { javaSample } from './java.ts';
import type { SampleRequest } from './json.ts';
import { phpSample } from './php.ts';
import { pythonSample } from './python.ts';
import { rubySample } from './ruby.ts';
import { typescriptSample } from './typescript.ts';

interface Language {
  readonly id: string;
  readonly title: string;
  readonly sample: (request: SampleRequest) => string;
}

export const LANGUAGES: readonly Language[] = [
  { id: 'curl', title: 'curl', sample: curlSample },
  { id: 'typescript', title: 'TypeScript', sample: typescriptSample },
  { id: 'python', title: 'Python', sample: pythonSample },
  { id: 'csharp', title: 'C#', sample: csharpSample },
  { id: 'go', title: 'Go', sample: goSample },
  { id: 'php', title: 'PHP', sample: phpSample },
  { id: 'java', title: 'Java', sample: javaSample },
  { id: 'ruby', title: 'Ruby', sample: rubySample },
];
