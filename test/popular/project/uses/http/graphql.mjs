import { buildSchema, graphql } from 'graphql';

export default async () =>
  (await graphql({ schema: buildSchema('type Query { n: Int }'), source: '{ n }', rootValue: { n: 1 } }))
    .data;
