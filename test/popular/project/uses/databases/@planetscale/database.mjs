import { connect } from '@planetscale/database';

export default async () => connect({ url: 'mysql://a:b@127.0.0.1/none' }).config.host;
