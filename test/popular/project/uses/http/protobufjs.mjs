import protobuf from 'protobufjs';

/** Loads `long` by a name that bundlers do not see: without it, large numbers are rounded. */
export default async () => {
  const { root } = protobuf.parse('syntax = "proto3"; message M { int64 n = 1; }');
  const M = root.lookupType('M');
  return String(M.decode(M.encode(M.fromObject({ n: '9007199254740993' })).finish()).n);
};
