/** Links to pages of the dashboard that need a secret. It stands behind #, so that no server on the way sees it. */
import { PATHS } from '../../dashboard/src/paths.ts';
import type { PageLinks } from '../accounts/mail-letters.ts';

/** @param publicUrl known once the API listens */
export const pageLinks = (publicUrl: () => string): PageLinks => ({
  invitation: (token) => `${publicUrl()}${PATHS.invitation}#${token}`,
  resetPassword: (token) => `${publicUrl()}${PATHS.resetPassword}#${token}`,
  confirmEmail: (token) => `${publicUrl()}${PATHS.confirmEmail}#${token}`,
  page: (name) => `${publicUrl()}${PATHS[name]}`,
  signUp: (token) => `${publicUrl()}${PATHS.signUp}#${token}`,
  signIn: () => publicUrl() + PATHS.signIn,
});
