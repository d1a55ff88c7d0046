/** The processor time that `work` takes, in milliseconds. Unlike elapsed time, it excludes other work on the machine. */
export function cpuTimeOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
