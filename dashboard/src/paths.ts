/** The paths of all pages. The router leads to them, and the service answers them; any other is unknown to both. */
export const PATHS = {
  home: '/',
  signIn: '/sign-in',
  conversions: '/conversions',
  conversion: '/conversions/$id',
  playground: '/playground',
  verify: '/verify',
  keys: '/keys',
  usage: '/usage',
  history: '/history',
  account: '/account',
  operations: '/operations',
  accounts: '/operations/accounts',
  operatorAccount: '/operations/accounts/$id',
  log: '/operations/log',
} as const;
