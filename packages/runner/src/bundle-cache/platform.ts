/** This machine as bundles name it, such as `linux-x64-glibc`. */
export function platformHere(): string {
  const { platform, arch } = process;
  return platform === 'linux' ? `linux-${arch}-${isGlibc() ? 'glibc' : 'musl'}` : `${platform}-${arch}`;
}

function isGlibc(): boolean {
  // Names of network peers would have to be looked up.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime !== undefined;
}
