/** Passwords in forms. */
import { TextField } from './TextField.tsx';

/** The fewest characters that the service takes. */
export const SHORTEST_PASSWORD = 12;

interface PresentPasswordProps {
  readonly label: string;
  /** The address that the person signs in with: a browser fills in the password that it has for it. */
  readonly email: string;
  readonly autoFocus?: boolean;
}

/** Asks a person who is signed in for the present password. */
export function PresentPassword({ label, email, autoFocus = false }: PresentPasswordProps) {
  return (
    <>
      <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
      <TextField
        label={label}
        name="password"
        type="password"
        autoComplete="current-password"
        isRequired
        autoFocus={autoFocus}
      />
    </>
  );
}
