/** The processor time that `work` takes, in milliseconds. Other work on the machine does not add to it, as it does to the time of a clock. */
export function cpuTimeOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
