/** The version of this package, which is sent with requests. A test ensures that it matches package.json. */
export const sdkVersion = '0.1.0';
