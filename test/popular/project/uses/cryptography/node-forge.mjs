import forge from 'node-forge';

export default async () => forge.md.sha256.create().update('a').digest().toHex();
