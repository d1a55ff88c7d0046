/** The version of this package, which its requests contain. A test keeps it equal to package.json. */
export const sdkVersion = '0.1.0';
