import { gql, GraphQLClient } from 'graphql-request';
import { withServer } from '../../support/with-server.mjs';

export default async () =>
  withServer(async (url) =>
    new GraphQLClient(url).request(gql`
      {
        ok
      }
    `),
  );
