import { fetchSignedIn } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { SaveButton } from '../../ui/SaveButton.tsx';

interface ExportButtonProps {
  /** The path of the API, with its query. */
  readonly path: string;
  readonly fileName: string;
  /** The name of the exported list, such as "ledger". */
  readonly what: string;
}

/** Downloads a list of the API as CSV. A link could not send the credential. */
export function ExportButton({ path, fileName, what }: ExportButtonProps) {
  const load = async () => {
    const headers = { Accept: 'text/csv' };
    const response = await fetchSignedIn(new Request(new URL(path, location.origin), { headers }));
    if (!response.ok) throw await ApiError.from(response);
    return { file: await response.blob(), name: fileName };
  };
  return (
    <SaveButton
      small
      icon="download"
      aria-label={`Export as CSV: the ${what}`}
      what={what}
      load={load}
    >
      Export as CSV
    </SaveButton>
  );
}
