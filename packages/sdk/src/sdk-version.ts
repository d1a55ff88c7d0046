/** The version of this package, as its requests name it. A test keeps it equal to package.json. */
export const sdkVersion = '0.1.0';
