import { configure } from '../client/current-client.ts';
import { publicTokens } from './public-tokens.ts';
import { withAuth } from './with-auth.ts';

/** Credentials for calls, and public tokens. */
export const auth = { configure, withAuth, ...publicTokens };
