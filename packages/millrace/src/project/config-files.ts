/** Names of the configuration file; the first that is there counts. */
export const configFiles = ['ts', 'mts', 'js', 'mjs'].map((extension) => `millrace.config.${extension}`);
