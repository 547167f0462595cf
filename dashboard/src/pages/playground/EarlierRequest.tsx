import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { conversionRequestQuery } from '../../api/conversion-documents.ts';
import { errorText } from '../../api/error.ts';
import { Notice } from '../../ui/Notice.tsx';
import { type Draft, optionsOf } from './request.ts';
import type { Field } from './request-schema.ts';

const route = getRouteApi('/signed-in/playground');

interface EarlierRequestProps {
  readonly fields: readonly Field[];
  readonly onLoad: (draft: Draft) => void;
}

/** Takes over the request of the conversion that the address names, and says so. */
export function EarlierRequest({ fields, onLoad }: EarlierRequestProps) {
  const { from } = route.useSearch();
  const navigate = useNavigate();
  const [loaded, setLoaded] = useState<string>();
  const { data, error } = useQuery({
    ...conversionRequestQuery(from ?? ''),
    enabled: from !== undefined,
  });
  useEffect(() => {
    if (data === undefined || from === undefined) return;
    const { source, html = '', url = '', options } = data;
    onLoad({ source, html, url, options: optionsOf(fields, options) });
    setLoaded(from);
    // A reload must show what was edited since.
    void navigate({ to: '/playground', search: {}, replace: true });
  }, [data, from, fields, navigate, onLoad]);
  if (error !== null && from !== undefined) {
    return (
      <Notice kind="danger">
        The request of {from} could not be loaded. {errorText(error)}
      </Notice>
    );
  }
  if (loaded === undefined) return null;
  return (
    <Notice kind="info">
      This is the request of{' '}
      <Link to="/conversions/$id" params={{ id: loaded }}>
        {loaded}
      </Link>
      . Converting it makes a new conversion.
    </Notice>
  );
}
