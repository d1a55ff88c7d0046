import { fromJSON } from '@grpc/proto-loader';
import protobuf from 'protobufjs';

export default async () => {
  const { root } = protobuf.parse(
    'syntax = "proto3"; package a; message M { int64 n = 1; } service S { rpc Do (M) returns (M); }',
  );
  return Object.keys(fromJSON(root.toJSON()));
};
