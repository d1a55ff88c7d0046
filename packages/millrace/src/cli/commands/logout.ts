import { Command } from 'commander';
import { call, CallRefused } from '../call.ts';
import { forgetLogin, storedLogin, type Login } from '../login.ts';
import { printJson, screenOn } from '../screen.ts';
import { waitsFor } from '../waiting.ts';

interface Options {
  readonly revoke?: boolean;
  readonly json?: boolean;
}

/** Revokes the token at its server. A token unknown to the server has already been revoked. */
async function revoke(login: Login): Promise<void> {
  waitsFor(`${login.url} to revoke the token; without --revoke only the stored login is deleted`);
  try {
    const { credentialId: tokenId } = await call(login, 'whoami');
    await call(login, 'revokeToken', { params: { tokenId } });
  } catch (error) {
    if (!(error instanceof CallRefused) || error.code !== 'invalid_credential') throw error;
  }
}

export const logoutCommand = (): Command =>
  new Command('logout')
    .description('delete the stored login')
    .option('--revoke', 'also revoke the token on the server; otherwise, it remains valid')
    .option('--json', 'print JSON')
    .action(async (options: Options) => {
      const stored = await storedLogin();
      // The server comes first, so that a token that could not be revoked is not forgotten and the command can be repeated.
      if (stored && options.revoke) await revoke(stored);
      const file = await forgetLogin();
      const revoked = stored !== undefined && options.revoke === true;
      if (options.json) return printJson({ url: stored?.url ?? null, file, revoked });
      const { line } = screenOn(process.stdout);
      if (!stored) return line('Not logged in.');
      line(
        revoked
          ? `Logged out of ${stored.url}. The token is revoked.`
          : `Logged out of ${stored.url}. The token remains valid; \`millrace tokens revoke\` revokes it.`,
      );
    });
