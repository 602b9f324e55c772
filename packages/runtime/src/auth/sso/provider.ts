/** A provider as signing in sees it, the same for every driver. */
import type { StateSecrets } from './state.ts';

/** Claims about a user, as the provider returns them. */
export type Claims = Readonly<Record<string, unknown>>;

/** One way to a provider and back. */
export interface Passage {
  readonly secrets: StateSecrets;
  /** Where the provider sends people back to. */
  readonly redirectUri: string;
}

/** A provider. Both reject with the error that answers the request. */
export interface Provider {
  /** Returns the address at which the user signs in to the provider. */
  authorize(passage: Passage): Promise<URL>;
  /**
   * Exchanges the parameters of the callback, after their state was compared, for the provider's claims about the user.
   */
  profile(passage: Passage, brought: URLSearchParams): Promise<Claims>;
}
