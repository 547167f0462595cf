/** The metadata of a PDF in XMP: the same as its information dictionary, and what the file claims to conform to. */

export interface DocumentInfo {
  readonly title?: string | undefined;
  readonly author?: string | undefined;
  readonly subject?: string | undefined;
  readonly keywords?: string | undefined;
  readonly creator?: string | undefined;
  readonly producer?: string | undefined;
  /** ISO 8601. */
  readonly created?: string | undefined;
  readonly modified?: string | undefined;
}

export interface Claims {
  /** `3` and `B`, of PDF/A. */
  readonly archive?: { readonly part: string; readonly level: string } | undefined;
  /** PDF/UA-1. */
  readonly isAccessible: boolean;
  readonly invoice?: InvoiceClaim | undefined;
}

export interface InvoiceClaim {
  readonly filename: string;
  readonly version: string;
  /** The profile, as Factur-X names it in XMP. */
  readonly level: string;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escaped(text: string): string {
  return (
    text
      .toWellFormed()
      // Controls but for blanks: XML 1.0 has none.
      .replaceAll(/[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu, ' ')
      .replaceAll(/[&<>"]/g, (each) => ENTITIES[each] ?? each)
  );
}

const element = (name: string, text: string | undefined): string =>
  text === undefined ? '' : `<${name}>${escaped(text)}</${name}>\n`;

const alternative = (name: string, text: string | undefined): string =>
  text === undefined
    ? ''
    : `<${name}><rdf:Alt><rdf:li xml:lang="x-default">${escaped(text)}</rdf:li></rdf:Alt></${name}>\n`;

interface Property {
  readonly name: string;
  readonly type: 'Integer' | 'Text';
  readonly category: 'internal' | 'external';
  readonly description: string;
}

/** Describes a schema that PDF/A does not know by itself (ISO 19005-2, 6.6.2.3). */
const schema = (
  name: string,
  uri: string,
  prefix: string,
  properties: readonly Property[],
): string => `<rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>${name}</pdfaSchema:schema>
<pdfaSchema:namespaceURI>${uri}</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>${prefix}</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq>
${properties
  .map(
    (each) => `<rdf:li rdf:parseType="Resource">
<pdfaProperty:name>${each.name}</pdfaProperty:name>
<pdfaProperty:valueType>${each.type}</pdfaProperty:valueType>
<pdfaProperty:category>${each.category}</pdfaProperty:category>
<pdfaProperty:description>${each.description}</pdfaProperty:description>
</rdf:li>`,
  )
  .join('\n')}
</rdf:Seq></pdfaSchema:property>
</rdf:li>`;

const ACCESS_URI = 'http://www.aiim.org/pdfua/ns/id/';
const INVOICE_URI = 'urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#';

const ACCESS_SCHEMA = schema('PDF/UA identification schema', ACCESS_URI, 'pdfuaid', [
  {
    name: 'part',
    type: 'Integer',
    category: 'internal',
    description: 'Indicates which part of ISO 14289 the document conforms to',
  },
]);

const external = (name: string, description: string): Property => ({
  name,
  type: 'Text',
  category: 'external',
  description,
});
const INVOICE_SCHEMA = schema('Factur-X PDFA Extension Schema', INVOICE_URI, 'fx', [
  external('DocumentFileName', 'The name of the embedded XML document'),
  external('DocumentType', 'The type of the hybrid document in capital letters, e.g. INVOICE'),
  external('Version', 'The version of the standard that the embedded XML document follows'),
  external('ConformanceLevel', 'The conformance level of the embedded XML document'),
]);

function described(prefixes: Readonly<Record<string, string>>, content: string): string {
  const names = Object.entries(prefixes).map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`);
  return `<rdf:Description rdf:about=""${names.join('')}>\n${content}</rdf:Description>\n`;
}

function claimed({ archive, isAccessible, invoice }: Claims): string {
  const schemas = [
    ...(isAccessible && archive ? [ACCESS_SCHEMA] : []),
    ...(invoice ? [INVOICE_SCHEMA] : []),
  ];
  return [
    archive &&
      described(
        { pdfaid: 'http://www.aiim.org/pdfa/ns/id/' },
        element('pdfaid:part', archive.part) + element('pdfaid:conformance', archive.level),
      ),
    isAccessible && described({ pdfuaid: ACCESS_URI }, element('pdfuaid:part', '1')),
    schemas.length > 0 &&
      described(
        {
          pdfaExtension: 'http://www.aiim.org/pdfa/ns/extension/',
          pdfaSchema: 'http://www.aiim.org/pdfa/ns/schema#',
          pdfaProperty: 'http://www.aiim.org/pdfa/ns/property#',
        },
        `<pdfaExtension:schemas><rdf:Bag>\n${schemas.join('\n')}\n</rdf:Bag></pdfaExtension:schemas>\n`,
      ),
    invoice &&
      described(
        { fx: INVOICE_URI },
        element('fx:DocumentType', 'INVOICE') +
          element('fx:DocumentFileName', invoice.filename) +
          element('fx:Version', invoice.version) +
          element('fx:ConformanceLevel', invoice.level),
      ),
  ]
    .filter((each) => typeof each === 'string')
    .join('');
}

/** @returns an XMP packet in UTF-8 */
export function xmpPacket(info: DocumentInfo, claims: Claims): Buffer {
  const { title, author, subject, keywords, creator, producer, created, modified } = info;
  const authors =
    author === undefined
      ? ''
      : `<dc:creator><rdf:Seq><rdf:li>${escaped(author)}</rdf:li></rdf:Seq></dc:creator>\n`;
  const packet = `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
${described(
  { dc: 'http://purl.org/dc/elements/1.1/' },
  element('dc:format', 'application/pdf') +
    alternative('dc:title', title) +
    authors +
    alternative('dc:description', subject),
)}${described(
  { pdf: 'http://ns.adobe.com/pdf/1.3/' },
  element('pdf:Producer', producer) + element('pdf:Keywords', keywords),
)}${described(
  { xmp: 'http://ns.adobe.com/xap/1.0/' },
  element('xmp:CreatorTool', creator) +
    element('xmp:CreateDate', created) +
    element('xmp:ModifyDate', modified),
)}${claimed(claims)}</rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>`;
  return Buffer.from(packet, 'utf8');
}
