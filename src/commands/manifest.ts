import type { ManifestResource, RenderManifest } from '../domain/render-manifest.ts';
import { type Run } from './command.ts';
import { counted } from '../domain/counted.ts';
import { isPressledgerError } from './service.ts';

function resourceLines({ url, redirects = [], ...resource }: ManifestResource): string[] {
  const { kind = '', status, type = '', bytes, sha256, hashed, error } = resource;
  const facts = [status, kind, type, `${bytes} bytes`, error].filter((each) => each && each !== '');
  return [
    ...redirects.map((each) => `    ${each.url} (${each.status}), then`),
    `    ${url}`,
    `      ${facts.join(', ')}${sha256 === undefined ? '' : `, ${hashed} ${sha256}`}`,
  ];
}

const more = (count: number): string[] => (count === 0 ? [] : [`    and ${count} more`]);

function describe(manifest: RenderManifest): string[] {
  const { chrome, document, timings, waits, fonts, resources, tunnels, console_errors } = manifest;
  const times = Object.entries(timings).map(([phase, ms]) => `${phase} ${Math.round(ms)}`);
  const waited = waits.map(
    ({ for: what, ms, capped }) => `${what} ${Math.round(ms)}${capped ? ' (given up)' : ''}`,
  );
  return [
    `  document  ${counted(document.pages, 'page')}, ${document.bytes} bytes, ${document.sha256}`,
    `  request   ${manifest.request.bytes} bytes, ${manifest.request.sha256}`,
    `  renderer  ${manifest.renderer}, attempt ${manifest.attempt}`,
    `  chrome    ${chrome.product} (${chrome.revision}), sandbox ${chrome.sandboxed ? 'on' : 'off'}`,
    `  times     ${times.join(', ')} ms`,
    `  waits     ${waited.length === 0 ? 'none' : `${waited.join(', ')} ms`}`,
    `  fonts     ${fonts.join(', ') || 'none'}`,
    ...(manifest.font_files ?? []).map(({ file, sha256 }) => `    ${file} ${sha256}`),
    ...(resources.length === 0 ? [] : ['  resources']),
    ...resources.flatMap(resourceLines),
    ...more(manifest.resources_left_out),
    ...(tunnels.length === 0 ? [] : ['  encrypted connections']),
    ...tunnels.map(({ host, bytes }) => `    ${host} ${bytes} bytes`),
    ...(console_errors.length === 0 ? [] : ['  console errors']),
    ...console_errors.map(({ text, at }) => `    ${text}${at === undefined ? '' : ` (${at})`}`),
    ...more(manifest.console_errors_left_out),
  ];
}

export const manifest: Run = async ({ positionals: [id = ''] }, { open, output }) => {
  await open.withOperator(async (api) => {
    const path = `/conversions/${encodeURIComponent(id)}/manifest/`;
    const found = await api.get<RenderManifest>(path).catch((error: unknown) => {
      if (!isPressledgerError(error)) throw error;
      throw new Error(`There is no manifest of ${id}: ${error.message}`);
    });
    output.json(found);
    for (const line of [id, ...describe(found)]) output.line(line);
  });
};
