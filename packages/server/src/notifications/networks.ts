import { BlockList, isIP } from 'node:net';

/** Notifications must not be sent to this address. The message is visible to the owner of the endpoint. */
export class AddressRefused extends Error {
  override name = 'AddressRefused';
}

/** The setting of allowed networks is invalid. */
class NetworksRefused extends Error {
  override name = 'NetworksRefused';
}

/**
 * IPv4 ranges outside of the public Internet: IANA's special-purpose registry, multicast, and public addresses that clouds use for
 * internal services. Metadata services are at 169.254.169.254 nearly everywhere.
 */
const closed4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  // IBM Cloud: internal services
  '161.26.0.0/16',
  '166.8.0.0/14',
  // Azure: configuration and secrets of the virtual machine
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];

/**
 * Public IPv6 is global unicast without tunnels (Teredo, 6to4), which could lead to a private IPv4 address. Mapped and translated IPv4
 * addresses (::ffff:0:0/96, 64:ff9b::/96), unique local addresses and metadata services (fd00:ec2::254, fd20:ce::254) are outside of
 * global unicast.
 */
const open6 = '2000::/3';
const closed6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3ffe::/16', '3fff::/20'];

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits = ''] = range.trim().split('/');
    const version = isIP(address);
    const maxBits = version === 6 ? 128 : 32;
    if (version === 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > maxBits) {
      throw new NetworksRefused(
        `Networks for notifications (MILLRACE_NOTIFICATION_NETWORKS): "${range}" is not an address range; use ranges such as 10.0.0.0/8,fd00::/8.`,
      );
    }
    list.addSubnet(address, Number(bits), version === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

export const onlyHttps = () =>
  new AddressRefused('over the public Internet only https is allowed, and only TLS for mail');

/** The addresses that notifications may be sent to. */
export interface Networks {
  /** Whether private networks are allowed. Plain http is accepted only there. */
  readonly areWidened: boolean;
  /** Throws `AddressRefused` unless a request of this protocol may go to this address. */
  check(protocol: string, address: string): void;
}

/** @param allowed ranges to allow in addition to the public Internet, such as `10.0.0.0/8`; plain http is accepted there */
export function createNetworks(allowed: readonly string[] = []): Networks {
  const own = listOf(allowed);
  const closed = listOf([...closed4, ...closed6]);
  const open = listOf([open6]);
  const isPublic = (address: string): boolean =>
    !closed.check(address, familyOf(address)) && (isIP(address) === 4 || open.check(address, 'ipv6'));
  return {
    areWidened: allowed.length > 0,
    check(protocol, address) {
      if (own.check(address, familyOf(address))) return;
      if (!isPublic(address)) {
        throw new AddressRefused(
          `${address} is not a public Internet address; the operator of the server can allow its network (MILLRACE_NOTIFICATION_NETWORKS)`,
        );
      }
      if (protocol !== 'https:') throw onlyHttps();
    },
  };
}
