/** The profiles of Factur-X and ZUGFeRD, by the names that their metadata have. */

interface Profile {
  /** The beginnings of the guideline that an invoice of the profile names. */
  readonly guidelines: readonly string[];
  /** The name under which readers look for the XML. */
  readonly filename: string;
  /** The version of the standard, as the metadata name it. */
  readonly version: string;
  /** What the XML is to the page: the same invoice, or some data of it. */
  readonly relationship: 'Alternative' | 'Data';
}

const FACTUR_X = { filename: 'factur-x.xml', version: '1.0' } as const;
const EN_16931 = 'urn:cen.eu:en16931:2017';

export const INVOICE_PROFILES = {
  MINIMUM: {
    ...FACTUR_X,
    guidelines: ['urn:factur-x.eu:1p0:minimum', 'urn:zugferd.de:2p0:minimum'],
    relationship: 'Data',
  },
  'BASIC WL': {
    ...FACTUR_X,
    guidelines: ['urn:factur-x.eu:1p0:basicwl', 'urn:zugferd.de:2p0:basicwl'],
    relationship: 'Data',
  },
  BASIC: {
    ...FACTUR_X,
    guidelines: [
      `${EN_16931}#compliant#urn:factur-x.eu:1p0:basic`,
      `${EN_16931}#compliant#urn:zugferd.de:2p0:basic`,
    ],
    relationship: 'Alternative',
  },
  'EN 16931': { ...FACTUR_X, guidelines: [EN_16931], relationship: 'Alternative' },
  EXTENDED: {
    ...FACTUR_X,
    guidelines: [
      `${EN_16931}#conformant#urn:factur-x.eu:1p0:extended`,
      `${EN_16931}#conformant#urn:zugferd.de:2p0:extended`,
    ],
    relationship: 'Alternative',
  },
  XRECHNUNG: {
    filename: 'xrechnung.xml',
    version: '3.0',
    guidelines: [`${EN_16931}#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0`],
    relationship: 'Alternative',
  },
} as const satisfies Readonly<Record<string, Profile>>;

export type InvoiceProfile = keyof typeof INVOICE_PROFILES;
