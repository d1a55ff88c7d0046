/** The platform of this machine as named in bundles, such as `linux-x64-glibc`. */
export function platformHere(): string {
  const { platform, arch } = process;
  return platform === 'linux' ? `linux-${arch}-${isGlibc() ? 'glibc' : 'musl'}` : `${platform}-${arch}`;
}

function isGlibc(): boolean {
  // Otherwise the names of network peers would be looked up.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime !== undefined;
}
