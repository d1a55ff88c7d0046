/** Names of the configuration file; the first that exists is used. */
export const configFiles = ['ts', 'mts', 'js', 'mjs'].map((extension) => `millrace.config.${extension}`);
