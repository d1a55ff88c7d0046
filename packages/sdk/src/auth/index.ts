import { configure } from '../client/current-client.ts';
import { publicTokens } from './public-tokens.ts';
import { withAuth } from './with-auth.ts';

/** Credentials: which one calls use, and public tokens to hand out. */
export const auth = { configure, withAuth, ...publicTokens };
