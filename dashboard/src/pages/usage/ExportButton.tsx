import { useState } from 'react';
import { fetchSignedIn } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { errorText } from '../../ui/ErrorState.tsx';
import { saveFile } from '../../ui/save-file.ts';
import { announce } from '../../ui/Toasts.tsx';

interface ExportButtonProps {
  /** The path of the API, with its query. */
  readonly path: string;
  readonly fileName: string;
  /** The name of the exported list, such as "the ledger". */
  readonly label: string;
}

/** Downloads a list of the API as CSV. A link could not send the credential. */
export function ExportButton({ path, fileName, label }: ExportButtonProps) {
  const [isPending, setPending] = useState(false);
  const save = async () => {
    setPending(true);
    try {
      const headers = { Accept: 'text/csv' };
      const response = await fetchSignedIn(
        new Request(new URL(path, location.origin), { headers }),
      );
      if (!response.ok) throw await ApiError.from(response);
      saveFile(await response.blob(), fileName);
    } catch (error) {
      announce(`${label} could not be exported. ${errorText(error)}`, 'danger');
    } finally {
      setPending(false);
    }
  };
  return (
    <Button
      small
      icon="download"
      isPending={isPending}
      aria-label={`Export as CSV: ${label}`}
      onPress={() => void save()}
    >
      Export as CSV
    </Button>
  );
}
