import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';

export interface ReceivedMail {
  readonly user: string | undefined;
  readonly isEncrypted: boolean;
  readonly recipients: readonly string[];
  /** The text including its headers. */
  readonly text: string;
}

export interface MailServer {
  readonly port: number;
  readonly received: ReceivedMail[];
}

export const user = 'alerts@example.com';
export const password = 'p4ssw0rd-of-mail';

/** A real SMTP server on 127.0.0.1 that requires a user and a password, with a certificate that this process trusts. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const { key, cert } = certificate();
  setDefaultCACertificates([...getCACertificates(), cert]);
  const received: ReceivedMail[] = [];
  const server = new SMTPServer({
    key,
    cert,
    onAuth(auth, _session, done) {
      if (auth.username === user && auth.password === password) return done(null, { user: auth.username });
      // Some servers repeat the received data.
      done(new Error(`wrong password ${auth.password}`));
    },
    onData(stream, session, done) {
      let text = '';
      stream.setEncoding('utf8');
      stream.on('data', (chunk: string) => (text += chunk));
      stream.on('end', () => {
        received.push({
          user: session.user,
          isEncrypted: session.secure,
          recipients: session.envelope.rcptTo.map(({ address }) => address),
          text,
        });
        done();
      });
    },
    ...options,
  });
  // A client that does not trust the certificate ends the connection.
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { port: (server.server.address() as AddressInfo).port, received };
}

let cached: { key: string; cert: string } | undefined;

function certificate(): { key: string; cert: string } {
  if (cached) return cached;
  const folder = mkdtempSync(join(tmpdir(), 'millrace-mail-'));
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
  execFileSync(
    'openssl',
    'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1'
      .split(' ')
      .concat('-keyout', key, '-out', cert),
    { stdio: 'ignore' },
  );
  cached = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  rmSync(folder, { recursive: true });
  return cached;
}
