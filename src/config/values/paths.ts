/** Makes the relative paths in a warehouse address absolute, from the folder of the config. */
import { isAbsolute, resolve } from 'node:path';

const EMBEDDED = 'embedded:';
const MEMORY = 'memory://';
const CERTIFICATES = /([?&](?:sslrootcert|sslcert|sslkey)=)([^&#]*)/g;

/** A warehouse address with absolute paths. */
export interface WarehousePlace {
  readonly url: string;
  /** The folder of an embedded warehouse as written in the config, if that is a relative path. */
  readonly relative?: string;
}

/** The address with its folder and certificate files made absolute. */
export function warehousePlace(url: string, folder: string): WarehousePlace {
  const path = embeddedFolder(url);
  if (path !== undefined)
    return isAbsolute(path) ? { url } : { url: `${EMBEDDED}${resolve(folder, path)}`, relative: path };
  if (isEmbedded(url)) return { url };
  return {
    url: url.replace(CERTIFICATES, (parameter, name: string, value: string) => {
      const file = new URLSearchParams(`file=${value}`).get('file') ?? '';
      // `system` is the trust store of the machine, not a file.
      if (file === '' || file === 'system' || isAbsolute(file)) return parameter;
      return `${name}${encodeURIComponent(resolve(folder, file))}`;
    }),
  };
}

/** True for the address of an embedded warehouse, in a folder or in memory. */
export const isEmbedded = (url: string): boolean => url.startsWith(EMBEDDED);

/** The folder of an embedded warehouse; undefined for a server and for a warehouse in memory. */
export function embeddedFolder(url: string): string | undefined {
  const path = isEmbedded(url) ? url.slice(EMBEDDED.length) : '';
  return path.trim() === '' || path === MEMORY ? undefined : path;
}
