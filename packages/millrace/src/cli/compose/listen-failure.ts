/** A one-sentence explanation of why a server cannot listen; undefined for other errors. */
export function explainListen(
  { code, syscall }: { code?: string; syscall?: string },
  host: string,
  port: number,
): string | undefined {
  if (code === 'EADDRINUSE') {
    return `Port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with --port (0 for any free one).`;
  }
  if (syscall === 'getaddrinfo') return `This machine has no address ${host}. Choose another with --host.`;
  if (syscall !== 'listen') return undefined;
  if (code === 'EACCES')
    return `This user is not allowed to listen on port ${port}. Choose a port above 1023 with --port.`;
  if (code === 'EADDRNOTAVAIL') return `This machine has no address ${host}. Choose another with --host.`;
  return undefined;
}
