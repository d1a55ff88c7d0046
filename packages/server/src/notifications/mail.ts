import { connect, type Socket } from 'node:net';
import type { Egress } from './check-url.ts';
import { connectUrlOf } from './destination.ts';
import type { MailSettings } from './endpoint.ts';
import { mailText, type Message } from './message.ts';
import { checkedAddresses, unless } from './post.ts';

export interface Mail extends Egress {
  readonly settings: MailSettings;
  /** Empty for none. */
  readonly password: string;
  /** The same for every attempt, so that mail programs display a repeated mail only once. */
  readonly id: string;
  readonly message: Message;
  readonly signal: AbortSignal;
}

export interface MailResult {
  /** The server's reply code. */
  readonly status: number;
  /** Why some of the recipients were rejected. */
  readonly failure?: string;
}

/**
 * A mail server rejected a mail. The text of its reply is omitted, because it may repeat data that was sent to it, including a password.
 */
export class MailRefused extends Error {
  override name = 'MailRefused';
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/** Sends a mail by SMTP to an allowed address. Nodemailer is loaded for the first mail of a process. */
export async function sendMail(mail: Mail): Promise<MailResult> {
  const { settings, password, id, message, networks, resolve, signal } = mail;
  const { smtp, from, to } = settings;
  const target = new URL(connectUrlOf(smtp));
  const addresses = await unless(signal, checkedAddresses(target, networks, resolve));
  const { createTransport } = await import('nodemailer');
  let socket: Socket | undefined;
  const transport = createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.security === 'tls',
    requireTLS: smtp.security === 'starttls',
    ignoreTLS: smtp.security === 'none',
    ...(smtp.user !== undefined && { auth: { user: smtp.user, pass: password } }),
    disableFileAccess: true,
    disableUrlAccess: true,
    // The connection uses the checked address; the name must not be resolved again.
    getSocket(_options: unknown, done: (error: Error | null, result?: { connection: Socket }) => void) {
      socket = connect({ host: addresses[0]?.address ?? '', port: smtp.port, signal });
      socket.once('error', done);
      socket.once('connect', () => {
        socket?.off('error', done);
        done(null, { connection: socket as Socket });
      });
    },
  });
  try {
    const sent = await transport.sendMail({
      from,
      to,
      subject: message.title,
      text: mailText(message),
      messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    });
    const refused = sent.rejected.length;
    return {
      status: Number(sent.response.slice(0, 3)) || 250,
      ...(refused > 0 && { failure: `The mail server rejected ${refused} of ${to.length} recipients` }),
    };
  } catch (error) {
    throw signal.aborted ? (signal.reason as Error) : asRefused(error);
  } finally {
    socket?.destroy();
  }
}

/** The properties that nodemailer adds to errors. */
interface SmtpError extends Error {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
  readonly syscall?: string;
}

function asRefused(error: unknown): unknown {
  const { code, command, responseCode, syscall } = error as SmtpError;
  if (responseCode !== undefined)
    return new MailRefused(
      `The mail server replied ${responseCode}${command === undefined ? '' : ` to ${command}`}`,
      responseCode,
    );
  if (syscall !== undefined) return error;
  const reasons: Readonly<Record<string, string>> = {
    ETLS: 'The mail server does not offer STARTTLS, or its certificate was rejected',
    ESOCKET: 'The connection to the mail server failed, or its certificate was rejected',
    ECONNECTION: 'The mail server closed the connection',
    EAUTH: 'The mail server offers no supported authentication method',
    ETIMEDOUT: 'The mail server did not respond in time',
  };
  return new MailRefused(reasons[code ?? ''] ?? `Mail could not be sent (${code ?? 'unknown error'})`);
}
