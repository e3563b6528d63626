/** The address of a database as people write it. */

/** The address with `localhost` where it has a user and no host: WHATWG refuses what libpq reads as the local socket. */
export const withHost = (address: string): string =>
  address.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[/?#]|$)/, '$1localhost');

/** True if the address names several hosts, as libpq takes them. */
export const hasSeveralHosts = (address: string): boolean =>
  /^postgres(?:ql)?:\/\/(?:[^/?]*@)?[^/?@]*,[^/?@]*(?:[/?]|$)/.test(address);
