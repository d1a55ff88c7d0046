/**
 * How a message refers to the section of docs/troubleshooting.md that explains it. `troubleshooting/` selects the section. This file is
 * separate because API clients include it, but not the list of messages.
 */
import { anchorOfStatus } from './troubleshooting/status.ts';

/**
 * The header of an error response with the address of the section that explains it: `docs/troubleshooting.md#not-found`. It is not a `Link`
 * with `rel="help"` (RFC 8288), which would be resolved against the request URL, and the server does not serve the documentation.
 */
export const helpHeader = 'x-millrace-help';

/**
 * The address of a section: a path that is the same in the repository, in the package `millrace`, on the documentation site and in copies
 * of them. Messages name the command that prints it instead (see `helpCommand`).
 */
export const helpAt = (anchor: string): string => `docs/troubleshooting.md#${anchor}`;

/** The valid values of the header. It is shown to people, and a server other than Millrace may have sent it. */
const address = /^docs\/[\w./-]{1,100}#[\w-]{1,100}$/;

/** The address in a response's header; undefined if it is not valid. */
export const helpIn = (header: string | null | undefined): string | undefined =>
  header && address.test(header) ? header : undefined;

/** The command that prints the section of an address. The sections and pages are in the package `millrace`. */
export const helpCommand = (help: string): string => {
  const [, anchor] = section.exec(help) ?? [];
  return anchor === undefined ? help : `millrace help ${anchor}`;
};
const section = /^docs\/troubleshooting\.md#([\w-]+)$/;

/** A single-line message, followed by the command that prints more. A message that already names a page is unchanged. */
export const withHelp = (message: string, help: string | undefined): string =>
  help === undefined || /\n|docs\/|millrace help /.test(message)
    ? message
    : `${message}${/[.!?]$/.test(message) ? ' See:' : '; see:'} ${helpCommand(help)}`;

const ending = /(?: See|; see): millrace help ([\w-]+)$/;

/** The message without the addition of `withHelp`. */
export const withoutHelp = (message: string): string => message.replace(ending, '');

/** The address of the section named at the end of a message; undefined if there is none. */
export const helpOf = (message: string): string | undefined => {
  const [, anchor] = ending.exec(message) ?? [];
  return anchor === undefined ? undefined : helpAt(anchor);
};

/** The address that explains a failure of which only the status is known. */
export const helpOfStatus = (status: number): string => helpAt(anchorOfStatus(status));
